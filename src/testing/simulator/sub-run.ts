import { withinGrant } from '../../core/bound/within-grant.ts';
import { prepareRun } from '../../define/prepare-run.ts';
import type { Registry } from '../../define/registry.ts';
import { defined } from '../../protocol/json.ts';
import type { PreparedRun } from '../../protocol/run.ts';
import type { SubRunOutcome, SubRunRequest } from '../../protocol/sub-runs.ts';
import { type Simulated, simulateRun, type World } from './simulate-run.ts';

/** Simulates a sub-run from its request to its end, in virtual time. Its world may depend on the request. */
export async function simulateSubRun(
  { sub_run_id, agent, tenant, goal, input, run_id, grant, effects }: SubRunRequest,
  registry: Registry,
  worldOf: (run: PreparedRun) => World,
): Promise<{ outcome: SubRunOutcome; simulated: Simulated | null }> {
  const request = {
    agent,
    goal,
    ...defined({ input: input ?? undefined }),
    ...defined({ tenant }),
    parent_run_id: run_id,
  };
  const asked = prepareRun(request, registry, sub_run_id);
  if (!asked.ok) {
    const why = asked.problems.map(({ path, message }) => `${path}: ${message}`).join('; ');
    return { outcome: { class: 'not_started', why, duration_ms: 0 }, simulated: null };
  }
  const run = { ...withinGrant(asked.prepared, grant), inherited: effects };
  const simulated = await simulateRun(run, { world: worldOf(run) });
  const { result } = simulated;
  const duration_ms = Date.parse(result.ended_at) - Date.parse(result.started_at);
  return { outcome: { class: 'ended', result, duration_ms }, simulated };
}
