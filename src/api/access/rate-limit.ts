import type { RateLimit } from '../context.ts';
import { Problem } from '../problem.ts';

/** More than a dashboard and a few programs need; a loop that has run wild meets it. */
export const DEFAULT_RATE_LIMIT: RateLimit = { burst: 400, perSecond: 200 };

/** One bucket for each token, and one for all requests without a good one: guessing is slowed, nobody else is. */
export function createRateLimit({ burst, perSecond }: RateLimit, now: () => number = Date.now) {
  const buckets = new Map<string, { left: number; at: number }>();
  return (holder: string): void => {
    const at = now();
    const bucket = buckets.get(holder) ?? { left: burst, at };
    const left = Math.min(burst, bucket.left + ((at - bucket.at) / 1000) * perSecond);
    buckets.set(holder, { left: left < 1 ? left : left - 1, at });
    if (left >= 1) return;
    const seconds = Math.max(1, Math.ceil((1 - left) / perSecond));
    throw new Problem('too_many', `Wait ${seconds} s. A token may ask ${perSecond} times a second.`, {
      headers: { 'retry-after': String(seconds) },
    });
  };
}
