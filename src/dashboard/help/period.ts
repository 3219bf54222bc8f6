import type { MetricBucket } from '../../protocol/run-metrics.ts';

export interface Period {
  name: string;
  words: string;
  bucket: MetricBucket;
  buckets: number;
}

/** The first one is shown unless the address names another. */
export const PERIODS: readonly [Period, ...Period[]] = [
  { name: '30d', words: 'the last 30 days', bucket: 'day', buckets: 30 },
  { name: '7d', words: 'the last 7 days', bucket: 'day', buckets: 7 },
  { name: '24h', words: 'the last 24 hours', bucket: 'hour', buckets: 24 },
];

export const readPeriod = (name: string | null): Period => PERIODS.find((period) => period.name === name) ?? PERIODS[0];

const BUCKET_MS = { hour: 3_600_000, day: 86_400_000 } as const;
const isoSeconds = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`;

/** The starts of all buckets of a period, oldest first, as the API writes them. */
export function bucketStarts({ bucket, buckets }: Period, now: number): string[] {
  const length = BUCKET_MS[bucket];
  const latest = now - (now % length);
  return Array.from({ length: buckets }, (_, index) => isoSeconds(latest - (buckets - 1 - index) * length));
}

/** A bucket as people read it. Buckets follow UTC. */
export const bucketName = (from: string, bucket: MetricBucket): string => {
  const at = new Date(from);
  return bucket === 'hour'
    ? `${from.slice(11, 16)} UTC`
    : at.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
};
