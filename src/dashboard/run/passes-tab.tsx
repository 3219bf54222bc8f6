import type { ReasonedTraceItem } from '../../core/guardrails/loop-trace.ts';
import { ProblemNotice } from '../parts/problem.tsx';
import { Copyable } from '../parts/text.tsx';
import { useSession } from '../shell/session.ts';
import { useAsked } from '../shell/use-asked.ts';

interface Thresholds {
  reruns?: { alignment_threshold?: number; drift_threshold?: number };
  fatigue?: { critical_threshold?: number };
}

/** The passes with the reviewer's scores against their thresholds, and where the raw history is. */
export function PassesTab({ runId, agent, version }: { runId: string; agent: string; version: number }) {
  const { client, temporal } = useSession();
  const trace = useAsked((signal) => client.runs.trace(runId, { signal }), [client, runId, version]);
  const limits = useAsked(
    async (signal) => {
      const { body: policy } = await client.api.ask<Thresholds>('GET', '/v1/policy', { signal });
      const { body } = await client.api.ask<{ agents: { name: string; policy: Thresholds }[] }>('GET', '/v1/agents', {
        signal,
      });
      const own = body.agents.find(({ name }) => name === agent)?.policy ?? {};
      return {
        alignment: own.reruns?.alignment_threshold ?? policy.reruns?.alignment_threshold ?? null,
        drift: own.reruns?.drift_threshold ?? policy.reruns?.drift_threshold ?? null,
        fatigue: own.fatigue?.critical_threshold ?? policy.fatigue?.critical_threshold ?? null,
      };
    },
    [client, agent],
  );
  if (trace.error !== undefined) return <ProblemNotice error={trace.error} onRetry={trace.reload} />;
  const workflowId = `agent-run/${runId}`;
  return (
    <div className="stack">
      <div className="card scroll-x" tabIndex={0} role="region" aria-label="Passes">
        <table className="plain">
          <thead>
            <tr>
              <th>Pass</th>
              <th>Alignment</th>
              <th>Drift</th>
              <th>Fatigue</th>
              <th>Decision</th>
            </tr>
          </thead>
          <tbody>
            {trace.data?.map((item, index) => (
              <tr key={item.loop_id}>
                <td>{index + 1}</td>
                <Score value={item.alignment_score} limit={limits.data?.alignment ?? null} isGoodAbove />
                <Score value={item.drift_score} limit={limits.data?.drift ?? null} />
                <Score value={item.reflection_fatigue} limit={limits.data?.fatigue ?? null} />
                <td>{decisionOf(item)}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <p className="faint small">
          Alignment is the share of checks that passed, drift the share of steps outside the plan, fatigue how much
          passes without improvement add up. The line marks the threshold of the agent.
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

function Score({
  value,
  limit,
  isGoodAbove = false,
}: {
  value: number | null;
  limit: number | null;
  isGoodAbove?: boolean;
}) {
  if (value === null) return <td className="faint">not reviewed</td>;
  const isGood = limit === null || (isGoodAbove ? value >= limit : value <= limit);
  return (
    <td>
      <span className={isGood ? '' : 'bad-text'}>
        {value.toFixed(2)}{' '}
        <span className="faint small">{limit === null ? '' : `${isGoodAbove ? 'of' : 'below'} ${limit}`}</span>
      </span>
      <span className="score" aria-hidden="true">
        <span className={isGood ? 'good' : 'bad'} style={{ width: `${Math.min(1, value) * 100}%` }} />
        {limit !== null && <i style={{ left: `${limit * 100}%` }} />}
      </span>
    </td>
  );
}
