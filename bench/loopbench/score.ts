import type { Alarms } from './detectors.ts';
import type { Label, Transcript } from './read-corpus.ts';

export interface Share {
  of: number;
  count: number;
  share: number;
  /** Wilson's interval at 95 %. */
  low: number;
  high: number;
}

export interface Score {
  recall: Share;
  falseAlarms: Share;
  saved: Share;
  /** The median of steps between `at` and the alarm, negative if the alarm came first. */
  medianDelay: number;
  /** Alarms inside the range that the label accepts, and alarms before it. */
  inRange: Share;
  early: number;
}

const Z = 1.96;

export const shareOf = (count: number, of: number): Share => {
  if (of === 0) return { of, count, share: 0, low: 0, high: 1 };
  const share = count / of;
  const centre = share + Z ** 2 / (2 * of);
  const spread = Z * Math.sqrt((share * (1 - share)) / of + Z ** 2 / (4 * of ** 2));
  const scale = 1 + Z ** 2 / of;
  return {
    of,
    count,
    share,
    low: Math.max(0, (centre - spread) / scale),
    high: Math.min(1, (centre + spread) / scale),
  };
};

const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN;
};

/** The steps of an episode after `at` that would not have been made, had the alarm ended the run. */
const savedSteps = ({ episodes, at }: Label, alarm: number): number => {
  let saved = 0;
  for (const [start, end] of episodes) {
    saved += Math.max(0, end - Math.max(start - 1, at, alarm));
  }
  return saved;
};

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Scores the alarms of one level. `alarms` has one entry for each transcript. */
export const scoreAlarms = (
  transcripts: readonly Transcript[],
  alarms: readonly Alarms[],
  level: keyof Alarms,
): Score => {
  const runs = transcripts.map(({ label }, index) => ({ label, alarm: alarms[index]?.[level] ?? null }));
  const stuck = runs.filter(({ label }) => label.isStuck);
  const honest = runs.filter(({ label }) => !label.isStuck);
  const found = stuck.flatMap(({ label, alarm }) => (alarm === null ? [] : [{ label, alarm }]));
  const isIn = ({ label: { range }, alarm }: { label: Label; alarm: number }): boolean =>
    alarm >= range[0] && alarm <= range[1];
  return {
    recall: shareOf(found.length, stuck.length),
    falseAlarms: shareOf(honest.filter(({ alarm }) => alarm !== null).length, honest.length),
    saved: shareOf(
      sum(found.map(({ label, alarm }) => savedSteps(label, alarm))),
      sum(stuck.map(({ label }) => label.wasted)),
    ),
    medianDelay: median(found.map(({ label, alarm }) => alarm - label.at)),
    inRange: shareOf(found.filter(isIn).length, found.length),
    early: found.filter(({ label, alarm }) => alarm < label.range[0]).length,
  };
};
