import { defined } from '../../protocol/json.ts';
import type { PreparedRun, RunFacts } from '../../protocol/run.ts';

/** What was decided about a run before it started. */
export const factsOf = ({ labels, tenant, parent_run_id, policy }: PreparedRun): RunFacts => ({
  labels,
  ...defined({ tenant, parent_run_id: parent_run_id ?? undefined }),
  thresholds: {
    alignment: policy.reruns.alignment_threshold,
    drift: policy.reruns.drift_threshold,
    fatigue: policy.fatigue.critical_threshold,
  },
});
