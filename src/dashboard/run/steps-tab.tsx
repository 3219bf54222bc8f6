import type { ProjectedStep } from '../../client/views.ts';
import { ProblemNotice } from '../parts/problem.tsx';
import { Inline } from '../parts/text.tsx';
import { duration } from '../parts/times.tsx';
import { VirtualList } from '../parts/virtual-list.tsx';
import { useSession } from '../shell/session.ts';
import { useAsked } from '../shell/use-asked.ts';
import type { Selected } from './strip.tsx';

const ROW_PX = 64;

/** All steps of the run, with the beginning of their input and output. */
export function StepsTab({
  runId,
  version,
  onSelect,
}: {
  runId: string;
  version: number;
  onSelect: (s: Selected) => void;
}) {
  const { client } = useSession();
  const steps = useAsked((signal) => client.runs.steps(runId, { signal }), [client, runId, version]);
  if (steps.error !== undefined) return <ProblemNotice error={steps.error} onRetry={steps.reload} />;
  const rows = steps.data ?? [];
  if (steps.data !== undefined && rows.length === 0) return <p className="faint empty">No step has started yet.</p>;
  return (
    <div className="card list-card">
      <VirtualList
        label="Steps"
        count={rows.length}
        rowHeight={ROW_PX}
        keyOf={(index) => String(rows[index]?.step_id)}
        render={(index) => <StepRow step={rows[index] as ProjectedStep} onSelect={onSelect} />}
      />
    </div>
  );
}

function StepRow({ step, onSelect }: { step: ProjectedStep; onSelect: (s: Selected) => void }) {
  const last = step.attempts.at(-1);
  const first = step.attempts[0];
  const took =
    first === undefined || last === undefined || last.ended_at === null
      ? null
      : Date.parse(last.ended_at) - Date.parse(first.started_at);
  return (
    <button
      className="step-row"
      type="button"
      onClick={() => onSelect({ step_id: step.step_id, attempt: last?.attempt ?? 1 })}
    >
      <span className="faint">{step.step_id}</span>
      <span className="cut">
        <strong>
          <Inline text={step.tool} max={60} />
        </strong>{' '}
        <span className="faint small">{step.phase}</span>
        <span className="cut mono small block soft">
          <Inline text={JSON.stringify(step.input)} max={160} />
        </span>
      </span>
      <span className="cut mono small soft">
        {last?.output === undefined ? '' : <Inline text={`→ ${JSON.stringify(last.output)}`} max={160} />}
      </span>
      <span className="run-number">
        {step.attempts.length} {step.attempts.length === 1 ? 'attempt' : 'attempts'}
        <span className="block faint">{took === null ? (last?.outcome ?? '') : duration(took)}</span>
      </span>
    </button>
  );
}
