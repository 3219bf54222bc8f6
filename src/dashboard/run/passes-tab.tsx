import type { ReasonedTraceItem } from '../../core/guardrails/loop-trace.ts';
import type { RunFacts } from '../../protocol/run.ts';
import { ProblemNotice } from '../parts/problem.tsx';
import { Copyable } from '../parts/text.tsx';
import { useSession } from '../shell/session.ts';
import { useAsked } from '../shell/use-asked.ts';

interface PassesTabProps {
  runId: string;
  /** From the policy of this run; absent if nobody knows them any more. */
  thresholds: RunFacts['thresholds'] | undefined;
  version: number;
}

/** The passes with the reviewer's scores against the thresholds of the run, and where the raw history is. */
export function PassesTab({ runId, thresholds, version }: PassesTabProps) {
  const { client, temporal } = useSession();
  const trace = useAsked((signal) => client.runs.trace(runId, { signal }), [client, runId, version]);
  if (trace.error !== undefined) return <ProblemNotice error={trace.error} onRetry={trace.reload} />;
  const workflowId = `agent-run/${runId}`;
  return (
    <div className="stack">
      <div className="card scroll-x" tabIndex={0} role="region" aria-label="Passes">
        {trace.data?.length === 0 ? (
          <p className="faint empty">No pass has ended yet. Each pass is judged when its last step is done.</p>
        ) : (
          <table className="plain">
            <thead>
              <tr>
                <th>Pass</th>
                <th>
                  Alignment
                  {thresholds && <span className="faint small block">at least {thresholds.alignment}</span>}
                </th>
                <th>
                  Drift
                  {thresholds && <span className="faint small block">at most {thresholds.drift}</span>}
                </th>
                <th>
                  Fatigue
                  {thresholds && <span className="faint small block">below {thresholds.fatigue}</span>}
                </th>
                <th>Decision</th>
              </tr>
            </thead>
            <tbody>
              {trace.data?.map((item, index) => (
                <tr key={item.loop_id}>
                  <td>{index + 1}</td>
                  <Score value={item.alignment_score} limit={thresholds?.alignment} isGood={(a, b) => a >= b} />
                  <Score value={item.drift_score} limit={thresholds?.drift} isGood={(a, b) => a <= b} />
                  <Score value={item.reflection_fatigue} limit={thresholds?.fatigue} isGood={(a, b) => a < b} />
                  <td>{decisionOf(item)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
        <p className="faint small">
          Alignment is the share of checks that passed, drift the share of steps outside the plan, fatigue how much
          passes without improvement add up.{' '}
          {thresholds === undefined
            ? 'The policy of this run is not known any more, so no thresholds are shown.'
            : 'The line marks the threshold in the policy of this run.'}
        </p>
      </div>
      <div className="card stack">
        <h3>Raw history</h3>
        <Copyable
          text={`temporal workflow show --namespace ${temporal.namespace} --workflow-id ${workflowId}`}
          label="the temporal command"
        />
        {temporal.ui_url !== null && (
          <a
            href={`${temporal.ui_url}/namespaces/${encodeURIComponent(temporal.namespace)}/workflows/${encodeURIComponent(workflowId)}`}
            rel="noreferrer"
            target="_blank"
          >
            Open the history in Temporal&apos;s UI
          </a>
        )}
      </div>
    </div>
  );
}

function decisionOf(item: ReasonedTraceItem): string {
  const why = item.rerun_reason_detail ?? item.finalize_reason ?? item.rerun_reason;
  return [item.status, why?.replaceAll('_', ' ')].filter(Boolean).join(': ');
}

interface ScoreProps {
  value: number | null;
  limit: number | undefined;
  isGood: (value: number, limit: number) => boolean;
}

function Score({ value, limit, isGood }: ScoreProps) {
  if (value === null) return <td className="faint">not reviewed</td>;
  const isFine = limit === undefined || isGood(value, limit);
  return (
    <td>
      <span className={isFine ? '' : 'bad-text'}>
        {value.toFixed(2)}
        {!isFine && <span className="small"> not met</span>}
      </span>
      <span className="score" aria-hidden="true">
        <span className={isFine ? 'good' : 'bad'} style={{ width: `${Math.min(1, value) * 100}%` }} />
        {limit !== undefined && <i style={{ left: `${Math.min(1, limit) * 100}%` }} />}
      </span>
    </td>
  );
}
