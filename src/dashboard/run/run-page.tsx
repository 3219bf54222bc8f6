import { useCallback, useEffect, useMemo } from 'react';
import type { RunStatus } from '../../protocol/run.ts';
import { QuestionCard } from '../inbox/question-card.tsx';
import { ProblemNotice } from '../parts/problem.tsx';
import { StateBadge } from '../parts/state-badge.tsx';
import { Inline, ValueBlock } from '../parts/text.tsx';
import { Ago, useNow } from '../parts/times.tsx';
import { setQuery, usePlace } from '../shell/router.tsx';
import { useSession } from '../shell/session.ts';
import { Actions } from './actions.tsx';
import { AttemptPanel } from './attempt-panel.tsx';
import { FailuresTab } from './failures-tab.tsx';
import { Gauges } from './gauges.tsx';
import { PassesTab } from './passes-tab.tsx';
import { PromptsTab } from './prompts-tab.tsx';
import type { AttemptMark } from './run-model.ts';
import { saveFile, shareHtml } from './share.ts';
import { StepsTab } from './steps-tab.tsx';
import { type Selected, Strip } from './strip.tsx';
import { RunLink, SubRuns } from './sub-runs.tsx';
import { Tabs } from './tabs.tsx';
import { Timeline } from './timeline.tsx';
import { TranscriptTab } from './transcript-tab.tsx';
import { useRun } from './use-run.ts';
import '../style/run.css';
import '../style/inbox.css';

const TABS = [
  ['timeline', 'Timeline'],
  ['steps', 'Steps'],
  ['transcript', 'Transcript'],
  ['prompts', 'Prompts'],
  ['failures', 'Failures'],
  ['passes', 'Passes'],
  ['result', 'Result'],
] as const;

/** One run: what it does, why, what it may still take, and what a person can do. */
export default function RunPage({ runId }: { runId: string }) {
  const { client } = useSession();
  const { query } = usePlace();
  const { status, error, model, version, isBroken, reload } = useRun(runId);
  const isOpen = status !== undefined && status.state !== 'ended';
  const now = useNow(isOpen);
  const tab = TABS.find(([id]) => id === query.get('tab'))?.[0] ?? 'timeline';
  const [step, attempt] = [query.get('step') ?? '', query.get('attempt') ?? ''];
  const selected = useMemo<Selected | null>(
    () => (step === '' || attempt === '' ? null : { step_id: Number(step), attempt: Number(attempt) }),
    [step, attempt],
  );
  const select = useCallback(
    (next: Selected) => setQuery({ step: String(next.step_id), attempt: String(next.attempt) }),
    [],
  );
  // A run of hundreds of steps needs a moment to answer for itself; its events are there before.
  const about = status ?? model.beginning;
  const goal = about?.goal ?? '';
  useEffect(() => {
    document.title = `${goal === '' ? runId : goal.slice(0, 60)} · Secondwind`;
  }, [goal, runId]);

  if (about === null) {
    return (
      <main aria-busy={error === undefined}>
        {error !== undefined && <ProblemNotice error={error} onRetry={reload} />}
      </main>
    );
  }
  const share = async (): Promise<void> => {
    if (status === undefined) return;
    const [steps, failures] = await Promise.all([client.runs.steps(runId), client.runs.failures(runId)]);
    saveFile(`${runId}.html`, shareHtml({ status, model, steps, failures }));
  };
  const state = status?.state ?? (model.outcome === null ? 'running' : 'ended');
  const marks = model.passes.flatMap((pass) => pass.marks);
  const mark = marks.find(
    (candidate): candidate is AttemptMark =>
      candidate.kind === 'attempt' && candidate.step_id === selected?.step_id && candidate.attempt === selected.attempt,
  );
  const letter = model.failures.find((failure) => failure.fingerprint === mark?.fingerprint)?.letter;
  return (
    <main className="run-page stack">
      <header className="run-head">
        <div className="grow">
          <p className="soft small row wrap">
            <span>
              <Inline text={about.agent} max={80} /> · <span className="mono">{runId}</span>
            </span>
            <StateBadge state={state} outcome={status?.outcome ?? model.outcome ?? undefined} />
            <span className="faint">
              started <Ago iso={about.started_at} now={now} />
            </span>
          </p>
          {status?.parent_run_id !== undefined && (
            <p className="small">
              Works for the run <RunLink runId={status.parent_run_id} />
            </p>
          )}
          <h1>
            <Inline text={about.goal || 'no goal'} max={300} />
          </h1>
        </div>
        {status !== undefined && <Actions status={status} onDone={reload} onShare={() => void share()} />}
      </header>
      <p className="why card" role="status" aria-label="Why">
        <Inline
          text={status === undefined ? capital(model.why ?? 'Reading what the run does…') : whyText(status)}
          max={1_000}
        />
        {isBroken && <span className="warn-text"> Live updates are interrupted; connecting again…</span>}
      </p>
      {error !== undefined && <ProblemNotice error={error} onRetry={reload} />}
      {status?.pending_question && (
        <QuestionCard runId={runId} agent={status.agent} question={status.pending_question} onAnswered={reload} />
      )}
      {status === undefined ? <div className="gauges" aria-busy="true" /> : <Gauges status={status} now={now} />}
      <Strip model={model} selected={selected} onSelect={select} />
      <SubRuns model={model} />
      {mark !== undefined && (
        <AttemptPanel
          key={`${mark.step_id}:${mark.attempt}`}
          runId={runId}
          mark={mark}
          letter={letter}
          onClose={() => setQuery({ step: '', attempt: '' })}
        />
      )}
      <Tabs tabs={TABS} current={tab} onChange={(id) => setQuery({ tab: id === 'timeline' ? '' : id })}>
        {tab === 'timeline' && <Timeline model={model} now={now} onSelect={select} />}
        {tab === 'steps' && <StepsTab runId={runId} version={version} onSelect={select} />}
        {tab === 'transcript' && <TranscriptTab runId={runId} version={version} />}
        {tab === 'prompts' && <PromptsTab runId={runId} version={version} />}
        {tab === 'failures' && <FailuresTab runId={runId} version={version} known={model.failures} />}
        {tab === 'passes' && <PassesTab runId={runId} thresholds={status?.thresholds} version={version} />}
        {tab === 'result' && (
          <div className="card">
            {status?.result ? (
              <ValueBlock value={status.result.output} label="Result" />
            ) : (
              <p className="faint empty">{isOpen ? 'The run has not ended.' : 'The run ended without a result.'}</p>
            )}
          </div>
        )}
      </Tabs>
    </main>
  );
}

/** The question itself stands below, so only the clock and the default are told here. */
function whyText({ why, pending_question: question }: RunStatus): string {
  if (question === undefined) return capital(why);
  const { does } = question.if_unanswered;
  const until = new Date(question.deadline).toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' });
  return `Waits for your answer until ${until}. If nobody answers, ${does.slice(0, 1).toLowerCase()}${does.slice(1)}`;
}

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);
