import type { Bound } from '../../protocol/run.ts';

/** Describes the limit in one sentence, which people read before a run starts. */
export function boundSentence(bound: Bound): string {
  const parts = [
    plural(bound.attempts, 'attempt'),
    `${plural(bound.steps, 'step')} in ${plural(bound.loops, 'pass', 'passes')}`,
    ...(bound.model_calls > 0 ? [plural(bound.model_calls, 'model call')] : []),
    ...(bound.tokens > 0 ? [plural(bound.tokens, 'token')] : []),
    ...(bound.cost_micro_usd !== null && bound.cost_micro_usd > 0 ? [dollars(bound.cost_micro_usd)] : []),
    `${duration(bound.wait_ms)} of waiting`,
  ];
  return `At most ${parts.join(', ')}.`;
}

const plural = (count: number, one: string, many = `${one}s`): string =>
  `${groupDigits(count)} ${count === 1 ? one : many}`;

/** Formats 1000000 as 1,000,000, independent of the machine's locale. */
function groupDigits(count: number): string {
  const digits = String(count);
  const groups: string[] = [];
  for (let end = digits.length; end > 0; end -= 3) groups.unshift(digits.slice(Math.max(0, end - 3), end));
  return groups.join(',');
}

const dollars = (microUsd: number): string => `$${(microUsd / 1_000_000).toFixed(2)}`;

function duration(ms: number): string {
  const units: [number, string][] = [
    [86_400_000, 'd'],
    [3_600_000, 'h'],
    [60_000, 'min'],
    [1_000, 's'],
  ];
  const unit = units.find(([size]) => ms >= size);
  if (unit === undefined) return `${ms} ms`;
  const [size, name] = unit;
  return `${Number((ms / size).toFixed(1))} ${name}`;
}
