import type { Verdict } from '../stuck/verdict.ts';

/** A stretch in which the agent was stuck or suspected to be. Numbers are numbers of calls, from 1. */
export interface InspectedLoop {
  rule: string;
  level: 'suspect' | 'stuck';
  tool: string | null;
  start: number;
  end: number;
  repeats: number;
  /** The call after which a guard would have stepped in. Null for a suspicion. */
  would_stop_at: number | null;
  signal: string;
  progress: string;
}

/** Two stretches with fewer calls between them are one. */
const GAP = 3;

/**
 * Adds what one call shows to the stretches found so far, the latest last. `numberOf` translates the numbers of the
 * detector, for a transcript in which calls are not answered in order.
 */
export const addVerdict = (
  loops: readonly InspectedLoop[],
  { level, rule, tool_name: tool, signal, progress, repeats, ...verdict }: Verdict,
  numberOf: (call: number) => number = (call) => call,
): InspectedLoop[] => {
  const start = numberOf(verdict.start);
  const end = numberOf(verdict.end);
  const stop = level === 'stuck' ? end : null;
  const last = loops.at(-1);
  if (last === undefined || start > last.end + GAP) {
    return [...loops, { rule, level, tool, start, end, repeats, would_stop_at: stop, signal, progress }];
  }
  const whole = { ...last, end: Math.max(last.end, end), start: Math.min(last.start, start) };
  const others = loops.slice(0, -1);
  // The rule that was certain first names the stretch.
  if (last.level === 'suspect' && level === 'stuck') {
    return [...others, { ...whole, rule, level, tool, would_stop_at: stop, signal, progress, repeats }];
  }
  return [...others, last.rule === rule && repeats > last.repeats ? { ...whole, repeats, signal } : whole];
};
