import type { PlannerChoice, PlannerOutcome, PlannerView } from '../core/run/ports.ts';
import type { Planner } from '../define/define-agent.ts';
import type { Tool } from '../define/define-tool.ts';
import { CAP } from '../protocol/caps.ts';
import { findTooDeepPath } from '../protocol/json.ts';
import type { RequestProblem } from '../protocol/run.ts';
import { invalidChoice } from '../core/run/check-choice.ts';
import { askWithTimeout, type AskEnvironment } from './ask-with-timeout.ts';

/**
 * Asks a planner for its next calls. A planner that throws or takes too long gives a failed outcome, not an exception.
 */
export async function askPlanner(
  planner: Planner | undefined,
  view: PlannerView,
  env: AskEnvironment,
  tools: readonly Tool[] = [],
): Promise<PlannerOutcome> {
  const asked = await askWithTimeout(
    () => {
      if (planner === undefined) throw new TypeError(`The agent ${view.agent} has no planner on this worker.`);
      return planner.choose(view);
    },
    view.timeout_ms,
    env,
  );
  if (asked.class !== 'ok') return asked;
  const problem = problemOfSize(asked.value);
  if (problem !== null) return invalidChoice(problem, asked.duration_ms);
  const { tokens = 0, cost_micro_usd = 0, ...choice } = asked.value;
  const calls = withLoopKeys(choice.calls, tools);
  return { ...choice, calls, class: 'ok', tokens, cost_micro_usd, duration_ms: asked.duration_ms };
}

/**
 * Checks that a choice can travel. A value that Temporal cannot carry would fail the activity without saying why, so the
 * planner is told instead. The workflow checks the parts of the choice, each with a smaller cap.
 */
function problemOfSize(choice: unknown): RequestProblem | null {
  const deep = findTooDeepPath(choice);
  if (deep !== null) return { path: deep, message: `nested deeper than ${CAP.jsonLevels} levels` };
  try {
    const size = JSON.stringify(choice).length;
    if (size <= CAP.choiceChars) return null;
    return {
      path: '$',
      message: `${size} characters are over the cap of ${CAP.choiceChars}; choose fewer or smaller calls`,
    };
  } catch {
    return { path: '$', message: 'the choice is not JSON' };
  }
}

/**
 * Adds each tool's own loop key to its calls. The key is computed here because only the worker has the tool's code; the
 * workflow only compares keys.
 */
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

/** Input that does not fit the tool has no loop key: the call itself is going to fail with that problem. */
function loopKeyOf(tool: Tool | undefined, input: unknown): string | null {
  if (tool?.loopKey === undefined) return null;
  try {
    const parsed = tool.input.safeParse(input);
    return parsed.success ? tool.loopKey(parsed.data).slice(0, CAP.messagePreviewChars) : null;
  } catch {
    return null;
  }
}
