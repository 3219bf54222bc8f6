import type { ReactNode } from 'react';
import type { FailureItem, ProjectedStep, ShownGuidance } from '../../client/views.ts';
import { describeRefs } from '../../core/failures/describe-refs.ts';
import { SecondwindError } from '../../protocol/errors.ts';
import { TextBlock, ValueBlock } from '../parts/text.tsx';
import { clockTime, duration } from '../parts/times.tsx';
import { useSession } from '../shell/session.ts';
import { useAsked } from '../shell/use-asked.ts';
import type { AttemptMark } from './run-model.ts';
import { PromptDifference, usePrompts } from './prompt-difference.tsx';
import { RunLink } from './sub-runs.tsx';
import { LessonsOf } from './lessons-of.tsx';

interface AttemptPanelProps {
  runId: string;
  mark: AttemptMark;
  letter: string | undefined;
  onClose: () => void;
}

/** Everything about one attempt: what it was given, what came back, what it was told, and what was recorded. */
export function AttemptPanel({ runId, mark, letter, onClose }: AttemptPanelProps) {
  const { client } = useSession();
  const { step_id, attempt } = mark;
  const about = [client, runId, step_id, attempt, mark.outcome];
  const step = useAsked(async (signal) => {
    const steps = await client.runs.steps(runId, { signal });
    return steps.find((candidate) => candidate.step_id === step_id) ?? null;
  }, about);
  const guidance = useAsked(async (signal): Promise<ShownGuidance | null> => {
    try {
      return await client.runs.guidance(runId, { stepId: step_id, attempt }, { signal });
    } catch (error) {
      if (error instanceof SecondwindError && error.code === 'no_guidance') return null;
      throw error;
    }
  }, about);
  const failures = useAsked((signal) => client.runs.failures(runId, { signal }), about);
  const { prompts } = usePrompts(runId, 0);
  // The model chose this attempt with the last request before it.
  const prompt = prompts?.findLast(({ at }) => at <= mark.started_at);
  const own = step.data?.attempts.find((candidate) => candidate.attempt === attempt);
  const record = failures.data?.find((failure) => failure.failure_id === own?.failure_id);
  return (
    <section className="card attempt-panel" aria-label="The selected attempt">
      <div className="row">
        <h2 className="grow">
          Attempt {attempt} of step {step_id} <span className="soft">· {mark.tool}</span>
        </h2>
        <button className="button plain" type="button" onClick={onClose} aria-label="Close the attempt">
          ✕
        </button>
      </div>
      <p className="soft small">
        {outcomeText(mark, letter)} · started {clockTime(mark.started_at)}
        {mark.ended_at !== null && ` · took ${duration(Date.parse(mark.ended_at) - Date.parse(mark.started_at))}`}
        {mark.wait_ms > 0 && ` · waited ${duration(mark.wait_ms)} before it`}
      </p>
      {mark.sub_run_id !== undefined && (
        <p>
          Another agent does this attempt, as the run <RunLink runId={mark.sub_run_id} />
        </p>
      )}
      <div className="attempt-parts">
        <Part title="Input">
          <ValueBlock value={step.data?.input ?? undefined} label="Input" />
        </Part>
        <Part title={mark.outcome === 'failed' ? 'What went wrong' : 'Output'}>
          {mark.failed === undefined ? (
            <ValueBlock value={own?.output} label="Output" />
          ) : (
            <TextBlock text={mark.failed} label="What went wrong" />
          )}
        </Part>
        <Part title="Guidance that this attempt saw">
          {guidance.data ? <ShownGuidanceText guidance={guidance.data} /> : <p className="faint">None.</p>}
        </Part>
        {prompt !== undefined && (
          <Part title={`What the model was sent before it, request ${prompt.request}`}>
            <PromptDifference runId={runId} request={prompt.request} />
          </Part>
        )}
        {record !== undefined && (
          <Part title="Failure record">
            <Record record={record} step={step.data ?? null} />
            <LessonsOf fingerprint={record.fingerprint} />
          </Part>
        )}
      </div>
    </section>
  );
}

const Part = ({ title, children }: { title: string; children: ReactNode }) => (
  <div className="part">
    <h3>{title}</h3>
    {children}
  </div>
);

/** The exact guidance, and why each row was chosen. */
function ShownGuidanceText({ guidance }: { guidance: ShownGuidance }) {
  return (
    <>
      <TextBlock text={guidance.guidance} label="The guidance" />
      <ul className="small soft">
        {guidance.rows.map((row) => (
          <li key={row.failure_id + row.text}>Because: {row.why}</li>
        ))}
      </ul>
    </>
  );
}

function Record({ record, step }: { record: FailureItem; step: ProjectedStep | null }) {
  const { observed_outcome: seen } = record;
  const rows: [string, string][] = [
    ['fingerprint', record.fingerprint],
    ['signal', `${record.signal_type}, ${record.severity}`],
    ['outcome', [seen.kind, seen.error_code, `${seen.duration_ms} ms`].filter(Boolean).join(', ')],
    ['recommended', JSON.stringify(record.recommended_adjustment)],
    ['status', `${record.status}, seen ${record.occurrence_count} × in this run`],
    ['guidance', `helped ${record.helpful_count} ×, did not help ${record.harmful_count} ×`],
    ...describeRefs(record.context_refs).map(({ name, value }): [string, string] => [name, value]),
    ...(step?.input_artifact_id === undefined
      ? []
      : ([['input artifact', step.input_artifact_id]] as [string, string][])),
  ];
  return (
    <dl className="facts">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd className="mono">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function outcomeText(mark: AttemptMark, letter: string | undefined): string {
  if (mark.isWorkerLost) return 'the worker was lost, another one continued';
  if (mark.outcome === 'failed') return letter === undefined ? 'failed' : `failed as ${letter}`;
  return mark.outcome === 'ok' ? 'succeeded' : mark.outcome;
}
