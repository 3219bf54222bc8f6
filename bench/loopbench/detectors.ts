import { afterCall } from '../../src/core/failures/loop-detector.ts';
import { createLoopWatch } from '../../src/core/failures/loop-watch.ts';
import type { ObservedCall } from '../../src/core/stuck/call-features.ts';
import { createStuckState, observe } from '../../src/core/stuck/observe.ts';
import type { Limits } from '../../src/core/stuck/stuck-rules.ts';
import { DEFAULT_POLICY } from '../../src/protocol/policy.ts';

/** The first step (from 0) at which a detector reaches each level; null if it never does. */
export interface Alarms {
  suspect: number | null;
  stuck: number | null;
}
export type Detector = (calls: readonly ObservedCall[]) => Alarms;

/** The detector of this project, with its own numbers or with others. */
export const secondwind =
  (limits?: Limits, policy = DEFAULT_POLICY.loops): Detector =>
  (calls) => {
    let state = createStuckState();
    let suspect: number | null = null;
    for (const [index, call] of calls.entries()) {
      const { state: next, verdict } = observe(state, call, policy, limits);
      state = next;
      if (verdict !== null) suspect ??= index;
      if (verdict?.level === 'stuck') return { suspect, stuck: index };
    }
    return { suspect, stuck: null };
  };

const single =
  (find: (calls: readonly ObservedCall[]) => number): Detector =>
  (calls) => {
    const index = find(calls);
    return index < 0 ? { suspect: null, stuck: null } : { suspect: index, stuck: index };
  };

const inputOf = (call: ObservedCall | undefined): string =>
  call === undefined ? '' : `${call.tool} ${call.input_id ?? JSON.stringify(call.input)}`;
const outputOf = (call: ObservedCall | undefined): string => call?.output_id ?? JSON.stringify(call?.output) ?? '';
const areEqual = (texts: readonly string[]): boolean => new Set(texts).size === 1;

/** Only the rules of equal calls: what this project had before the five rules of varied calls. */
export const equalCalls = single((calls) => {
  let state = createLoopWatch();
  return calls.findIndex((call) => {
    const chosen = { tool_name: call.tool, args: null, loop_key: inputOf(call), effect: 'read' as const };
    const outcome =
      call.error === true
        ? ({ ok: false, fingerprint: outputOf(call) } as const)
        : ({ ok: true, result_hash: outputOf(call) } as const);
    const after = afterCall(
      { ...state, seen_features: { recent: [], pairs: [] } },
      chosen,
      outcome,
      DEFAULT_POLICY.loops,
    );
    state = after.state;
    return after.stall !== undefined;
  });
});

/**
 * OpenHands, `openhands/controller/stuck.py` (1.x, as of early 2026): four equal actions with equal observations, three
 * equal actions with errors, or two actions in turn for six steps. Its rules about messages and about the context window
 * need more than calls and are left out.
 */
export const openHands = single((calls) =>
  calls.findIndex((_, index) => {
    const last = (count: number): readonly ObservedCall[] => calls.slice(Math.max(0, index - count + 1), index + 1);
    const four = last(4);
    if (four.length === 4 && areEqual(four.map(inputOf)) && areEqual(four.map(outputOf))) return true;
    const three = last(3);
    if (three.length === 3 && areEqual(three.map(inputOf)) && three.every(({ error }) => error === true)) return true;
    const six = last(6).map((call) => `${inputOf(call)} ${outputOf(call)}`);
    const even = six.filter((_text, at) => at % 2 === 0);
    const odd = six.filter((_text, at) => at % 2 === 1);
    return six.length === 6 && areEqual(even) && areEqual(odd);
  }),
);

/**
 * OpenRouter's agent SDK (0.11, `doomLoop: true`): a call of a tool with the same input as the tool's call before adds to
 * its streak, other tools do not reset it, other inputs do. The third call is blocked, which counts as the alarm here.
 */
export const openRouter = single((calls) => {
  const streaks = new Map<string, { input: string; count: number }>();
  return calls.findIndex((call) => {
    const input = inputOf(call);
    const streak = streaks.get(call.tool);
    const count = streak?.input === input ? streak.count + 1 : 1;
    streaks.set(call.tool, { input, count });
    return count >= 3;
  });
});

/**
 * Gemini CLI, `loopDetectionService.ts` (as of early 2026): five equal calls in a row. Its question to a model after 30
 * turns and its rule about repeated text are left out.
 */
export const geminiCli = single((calls) =>
  calls.findIndex((_, index) => index >= 4 && areEqual(calls.slice(index - 4, index + 1).map(inputOf))),
);

/** LangGraph's default `recursion_limit` of 25 steps of the graph: a model and a tool are two, so twelve calls fit. */
export const langGraph = single((calls) => (calls.length > 12 ? 12 : -1));
