import type { LoopRule } from '../failures/loop-watch.ts';
import type { Finding, StuckLevel } from './stuck-rules.ts';

/** What one call shows about its agent being stuck. */
export interface Verdict {
  level: StuckLevel;
  rule: LoopRule;
  tool_name: string | null;
  /** Numbers of calls, from 1. */
  start: number;
  end: number;
  /** The calls that show it. For equal calls only their number is known, so the list may be shorter than `repeats`. */
  calls: number[];
  repeats: number;
  /** What was seen, in one sentence. */
  signal: string;
  /** What would have counted as progress, in one sentence. */
  progress: string;
}

interface Repetition {
  rule: LoopRule;
  tool_name: string | null;
  start: number;
  end: number;
  repeats: number;
}

const SIGNAL: Record<LoopRule, (repeats: number) => string> = {
  same_call_same_outcome: (repeats) => `The same call had the same outcome ${repeats} times.`,
  same_call_failing: (repeats) => `The same call failed ${repeats} times.`,
  same_message: (repeats) => `The agent sent the same message ${repeats} times.`,
  cycle: (repeats) => `The same calls with the same outcomes went round ${repeats} times.`,
  same_error: (repeats) => `${repeats} calls with different inputs failed with the same error.`,
  fruitless: (repeats) => `${repeats} calls in a row found nothing new.`,
  near_repeat: (repeats) => `${repeats} calls that differ only slightly had nearly the same answer.`,
  long_cycle: (repeats) => `${repeats} recent calls repeat earlier calls with the same outcome.`,
  edit_run: (repeats) => `${repeats} rounds of a change and a run ended in the same error.`,
};

const PROGRESS: Record<LoopRule, string> = {
  same_call_same_outcome: 'Another outcome of the call, or a successful change before it.',
  same_call_failing: 'A success of the call, or a successful change before the next try.',
  same_message: 'A call of a tool with a new result.',
  cycle: 'Another outcome of one of the calls.',
  same_error: 'A success, or at least another error.',
  fruitless: 'An answer that contains something not seen before.',
  near_repeat: 'Another page, or an answer with new words.',
  long_cycle: 'A call that was not made before, or another outcome.',
  edit_run: 'Another first error after a change, or none.',
};

const describe = (level: StuckLevel, found: Repetition, calls: number[]): Verdict => ({
  level,
  rule: found.rule,
  tool_name: found.tool_name,
  start: found.start,
  end: found.end,
  calls,
  repeats: found.repeats,
  signal: SIGNAL[found.rule](found.repeats),
  progress: PROGRESS[found.rule],
});

/** Makes the verdict from a repetition of equal calls, or else from a finding about varied calls. */
export const verdictOf = (level: StuckLevel, exact: Repetition | null, varied: Finding | null): Verdict | null => {
  const calls = varied?.calls.map(({ n }) => n) ?? [];
  if (exact !== null) return describe(level, exact, calls.length > 0 ? calls : [exact.start, exact.end]);
  const last = varied?.calls.at(-1);
  if (varied === null || last === undefined) return null;
  const { rule } = varied;
  const start = calls[0] ?? last.n;
  return describe(varied.level, { rule, tool_name: last.tool, start, end: last.n, repeats: calls.length }, calls);
};
