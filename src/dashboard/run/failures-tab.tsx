import type { FailureItem } from '../../client/views.ts';
import { ProblemNotice } from '../parts/problem.tsx';
import { Inline } from '../parts/text.tsx';
import { clockTime } from '../parts/times.tsx';
import { useSession } from '../shell/session.ts';
import { useAsked } from '../shell/use-asked.ts';
import type { KnownFailure } from './run-model.ts';

interface FailuresTabProps {
  runId: string;
  version: number;
  known: KnownFailure[];
}

/** The failure records of the run. */
export function FailuresTab({ runId, version, known }: FailuresTabProps) {
  const { client } = useSession();
  const failures = useAsked((signal) => client.runs.failures(runId, { signal }), [client, runId, version]);
  if (failures.error !== undefined) return <ProblemNotice error={failures.error} onRetry={failures.reload} />;
  if (failures.data?.length === 0) return <p className="faint empty">No attempt has failed.</p>;
  return (
    <div className="card scroll-x" tabIndex={0} role="region" aria-label="Failures">
      <table className="plain">
        <thead>
          <tr>
            <th>Failure</th>
            <th>Where</th>
            <th>What it said</th>
            <th>Recommended</th>
            <th>Status</th>
          </tr>
        </thead>
        <tbody>
          {failures.data?.map((failure) => (
            <Row
              key={failure.failure_id}
              failure={failure}
              known={known.find(({ fingerprint }) => fingerprint === failure.fingerprint)}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

const Row = ({ failure, known }: { failure: FailureItem; known: KnownFailure | undefined }) => (
  <tr>
    <td>
      <span className="row">
        <span className={`mark failed key shade-${known?.shade ?? 0}`}>{known?.letter ?? '✕'}</span>
        <span>{failure.signal_type.replaceAll('_', ' ')}</span>
      </span>
      <span className="faint small">{clockTime(failure.created_at)}</span>
    </td>
    <td>
      step {failure.step_id}
      <span className="faint small block">{failure.attempted_action.tool_name ?? failure.phase}</span>
    </td>
    <td className="wide">
      <code>{failure.observed_outcome.error_code ?? failure.observed_outcome.kind}</code>{' '}
      <Inline text={failure.observed_outcome.message_preview ?? ''} max={240} />
    </td>
    <td>{failure.recommended_adjustment.type.replaceAll('_', ' ')}</td>
    <td>{failure.status}</td>
  </tr>
);
