import { DEFAULT_POLICY } from '../../src/protocol/policy.ts';
import { LIMITS, type Limits } from '../../src/core/stuck/stuck-rules.ts';
import { secondwind } from './detectors.ts';
import type { Transcript } from './read-corpus.ts';
import { type Score, scoreAlarms } from './score.ts';

export interface Point {
  name: string;
  recall: number;
  precision: number;
}

export const toPoint = (name: string, { recall, falseAlarms }: Score): Point => ({
  name,
  recall: recall.share,
  precision: recall.count + falseAlarms.count === 0 ? 1 : recall.count / (recall.count + falseAlarms.count),
});

/** All numbers of the rules changed by the same amount. */
const shifted = (by: number): Limits => {
  const add = <T extends { suspect: number; stuck: number }>(levels: T): T => ({
    ...levels,
    stuck: Math.max(2, levels.stuck + by),
  });
  const widen = ({ window, least }: { window: number; least: number }) => ({
    window: Math.max(3, window + by),
    least: Math.max(2, least + by),
  });
  return {
    ...LIMITS,
    errors: add(LIMITS.errors),
    equalErrors: add(LIMITS.equalErrors),
    fruitless: { ...LIMITS.fruitless, stuck: widen(LIMITS.fruitless.stuck) },
    queries: Math.max(2, LIMITS.queries + by),
    sweep: widen(LIMITS.sweep),
    rewordings: add(LIMITS.rewordings),
    page: add(LIMITS.page),
    writes: add(LIMITS.writes),
    cycle: { ...LIMITS.cycle, stuck: widen(LIMITS.cycle.stuck) },
    rounds: add(LIMITS.rounds),
  };
};

const SHIFTS = [-2, -1, 0, 1, 2, 4, 8];

/** The points of the detector from loose to strict. */
export const tracePoints = (transcripts: readonly Transcript[]): Point[] =>
  SHIFTS.map((by) => {
    const { same_outcome, same_error, cycle_rounds, ...others } = DEFAULT_POLICY.loops;
    const more = (count: number): number => Math.max(2, count + by);
    const policy = {
      ...others,
      same_outcome: more(same_outcome),
      same_error: more(same_error),
      cycle_rounds: more(cycle_rounds),
    };
    const alarms = transcripts.map(({ calls }) => secondwind(shifted(by), policy)(calls));
    return toPoint(by === 0 ? 'as shipped' : `${by > 0 ? '+' : ''}${by}`, scoreAlarms(transcripts, alarms, 'stuck'));
  });

const WIDTH = 640;
const HEIGHT = 400;
const LEFT = 60;
const BOTTOM = 40;
/** Below this precision there is nothing to see. */
const LEAST_PRECISION = 0.2;
const x = (recall: number): number => Math.round(LEFT + recall * (WIDTH - LEFT - 20));
const y = (precision: number): number =>
  Math.round(20 + ((1 - Math.max(precision, LEAST_PRECISION)) / (1 - LEAST_PRECISION)) * (HEIGHT - 20 - BOTTOM));

const dot = ({ name, recall, precision }: Point, colour: string, below: boolean): string =>
  `<circle cx="${x(recall)}" cy="${y(precision)}" r="4" fill="${colour}"/>` +
  `<text x="${x(recall) - 4}" y="${y(precision) + (below ? 18 : -8)}" text-anchor="end" fill="${colour}">${name}</text>`;

/** Draws precision against recall: a line for this detector, a dot for each other one. */
export const drawCurve = (own: readonly Point[], others: readonly Point[]): string => {
  const ticks = [0, 0.2, 0.4, 0.6, 0.8, 1];
  const line = own.map(({ recall, precision }) => `${x(recall)},${y(precision)}`).join(' ');
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12" role="img" aria-label="Precision against recall">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`,
    ...ticks.map(
      (tick) =>
        `<line x1="${x(tick)}" x2="${x(tick)}" y1="20" y2="${HEIGHT - BOTTOM}" stroke="#e3e3e3"/><text x="${x(tick)}" y="${HEIGHT - 22}" text-anchor="middle">${tick}</text>`,
    ),
    ...ticks
      .slice(1)
      .map(
        (tick) =>
          `<line x1="${LEFT}" x2="${WIDTH - 20}" y1="${y(tick)}" y2="${y(tick)}" stroke="#e3e3e3"/><text x="${LEFT - 8}" y="${y(tick) + 4}" text-anchor="end">${tick}</text>`,
      ),
    `<text x="${WIDTH / 2}" y="${HEIGHT - 6}" text-anchor="middle">recall</text><text x="14" y="${HEIGHT / 2}" transform="rotate(-90 14 ${HEIGHT / 2})" text-anchor="middle">precision</text>`,
    `<polyline points="${line}" fill="none" stroke="#0b6e4f" stroke-width="2"/>`,
    ...own.map((point, index) => dot(point, '#0b6e4f', index % 2 === 0)),
    ...others.map((point, index) => dot(point, '#8a3b12', index % 2 === 1)),
    '</svg>',
    '',
  ].join('\n');
};
