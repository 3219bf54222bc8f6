import type { PlannerOutcome, PlannerView } from '../core/run/index.ts';
import type { Planner } from '../define/define-agent.ts';
import { askOrLeave, type TurnEnvironment } from './left-behind.ts';

/** Asks a planner for its choice. */
export async function choose(
  planner: Planner | undefined,
  view: PlannerView,
  env: TurnEnvironment,
): Promise<PlannerOutcome> {
  const asked = await askOrLeave(
    () => {
      if (planner === undefined) throw new TypeError(`The agent ${view.agent} has no planner on this worker.`);
      return planner.choose(view);
    },
    view.timeout_ms,
    env,
  );
  if (asked.class !== 'ok') return asked;
  const { tokens = 0, cost_micro_usd = 0, ...choice } = asked.value;
  return { ...choice, class: 'ok', tokens, cost_micro_usd, duration_ms: asked.duration_ms };
}
