import type { PlannerChoice, PlannerOutcome, PlannerView } from '../core/run/ports.ts';
import type { Planner } from '../define/define-agent.ts';
import type { Tool } from '../define/define-tool.ts';
import { CAP } from '../protocol/caps.ts';
import { askOrLeave, type TurnEnvironment } from './left-behind.ts';

/** Asks a planner for its choice. */
export async function choose(
  planner: Planner | undefined,
  view: PlannerView,
  env: TurnEnvironment,
  tools: readonly Tool[] = [],
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
  const calls = withLoopKeys(choice.calls, tools);
  return { ...choice, calls, class: 'ok', tokens, cost_micro_usd, duration_ms: asked.duration_ms };
}

/** A tool that says itself what makes two calls the same is asked here, where its code is; the workflow only compares. */
export function withLoopKeys(calls: PlannerChoice['calls'], tools: readonly Tool[]): PlannerChoice['calls'] {
  if (!Array.isArray(calls)) return calls;
  return calls.map((call) => {
    const loop_key = loopKeyOf(
      tools.find((tool) => tool.name === call?.tool),
      call?.input,
    );
    return loop_key === null ? call : { ...call, loop_key };
  });
}

/** Input that does not fit the tool has no key: the call itself will say so. */
function loopKeyOf(tool: Tool | undefined, input: unknown): string | null {
  if (tool?.loopKey === undefined) return null;
  try {
    const parsed = tool.input.safeParse(input);
    return parsed.success ? tool.loopKey(parsed.data).slice(0, CAP.messagePreviewChars) : null;
  } catch {
    return null;
  }
}
