import type { RunMetrics } from '../../protocol/run-metrics.ts';
import { combine } from './combine.ts';
import { decimal, dollars, percent, seconds } from './figures.ts';
import { bucketName, bucketStarts, type Period } from './period.ts';

interface Measure {
  title: string;
  /** What it means, in a few words. */
  means: string;
  read: (row: RunMetrics) => number | null;
  write: (value: number | null) => string;
}

const MEASURES: Measure[] = [
  {
    title: 'Loop rate',
    means: 'runs in which the agent repeated itself',
    read: (row) => row.loop_rate,
    write: percent,
  },
  {
    title: 'Repeated failures',
    means: 'per run, the same failure again',
    read: (row) => row.repeated_failures_per_run,
    write: decimal,
  },
  {
    title: 'Evidence coverage',
    means: 'retrievals that brought evidence',
    read: (row) => row.evidence_coverage,
    write: percent,
  },
  {
    title: 'Escalations',
    means: 'per run, to a person or an error',
    read: (row) => row.escalations_per_run,
    write: decimal,
  },
  { title: 'Time per step', means: 'without waiting for people', read: (row) => row.seconds_per_step, write: seconds },
  { title: 'Cost per step', means: 'models and tools', read: (row) => row.cost_per_step_micro_usd, write: dollars },
  {
    title: 'Waste',
    means: 'attempts after the last progress',
    read: (row) => row.waste.share_of_attempts,
    write: percent,
  },
];

type Series = (RunMetrics & { from: string })[];

/** Small charts of the metrics over time, and how runs ended. Each says the same in words. */
export function Charts({
  overall,
  series,
  period,
  now,
}: {
  overall: RunMetrics;
  series: Series;
  period: Period;
  now: number;
}) {
  const starts = bucketStarts(period, now);
  const buckets = starts.map((from) => ({ from, row: combine(series.filter((entry) => entry.from === from)) }));
  return (
    <section aria-label="Over time">
      <h2>Over time</h2>
      <p className="small soft">
        One bar for each {period.bucket} of {period.words}, in UTC. A dash means that there was nothing to measure.
      </p>
      <div className="charts">
        <OutcomeChart buckets={buckets} period={period} overall={overall} />
        {MEASURES.map((measure) => (
          <MeasureChart key={measure.title} measure={measure} buckets={buckets} period={period} overall={overall} />
        ))}
      </div>
    </section>
  );
}

interface ChartProps {
  buckets: { from: string; row: RunMetrics }[];
  overall: RunMetrics;
  period: Period;
}

const WIDTH = 300;
const HEIGHT = 64;

function MeasureChart({ measure, buckets, overall, period }: ChartProps & { measure: Measure }) {
  const { title, means, read, write } = measure;
  const values = buckets.map(({ row }) => read(row));
  const known = values.filter((value) => value !== null);
  const most = Math.max(0, ...known);
  const whole = read(overall);
  const words =
    known.length === 0
      ? `${title}: nothing to measure in ${period.words}.`
      : `${title}, ${means}: ${write(whole)} over ${period.words}, at most ${write(most)} in one ${period.bucket}.`;
  const slot = WIDTH / buckets.length;
  return (
    <figure className="chart card">
      <figcaption>
        <span className="chart-title">{title}</span>
        <strong className="chart-value">{write(whole)}</strong>
        <span className="small faint chart-means">{means}</span>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={words}>
        <line className="base" x1={0} x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} />
        {values.map((value, index) => {
          const from = buckets[index]?.from ?? '';
          if (value === null) return null;
          const height = value === 0 ? 2 : Math.max(3, (value / most) * (HEIGHT - 4));
          return (
            <rect
              key={from}
              className={value === 0 ? 'zero' : 'value'}
              x={index * slot + slot * 0.12}
              y={HEIGHT - height}
              width={slot * 0.76}
              height={height}
            >
              <title>{`${bucketName(from, period.bucket)}: ${write(value)}`}</title>
            </rect>
          );
        })}
      </svg>
      <Axis buckets={buckets} period={period} most={known.length === 0 || most === 0 ? '' : `max ${write(most)}`} />
    </figure>
  );
}

const ENDS = [
  ['completed', 'completed', 'good'],
  ['finalized', 'finalized', 'warn'],
  ['system_error', 'system error', 'bad'],
  ['budget_exhausted', 'out of budget', 'spent'],
  ['cancelled', 'cancelled', 'quiet'],
] as const;

function OutcomeChart({ buckets, overall, period }: ChartProps) {
  const most = Math.max(1, ...buckets.map(({ row }) => row.runs));
  const slot = WIDTH / buckets.length;
  const ends = ENDS.filter(([outcome]) => overall.outcomes[outcome] > 0);
  const words = ends.map(([outcome, word]) => `${overall.outcomes[outcome]} ${word}`).join(', ');
  return (
    <figure className="chart card wide">
      <figcaption>
        <span className="chart-title">Outcomes</span>
        <strong className="chart-value">{overall.runs}</strong>
        <span className="small faint chart-means">runs that ended</span>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Outcomes of ${overall.runs} runs that ended: ${words === '' ? 'none' : words}.`}
      >
        <line className="base" x1={0} x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} />
        {buckets.map(({ from, row }, index) => {
          let below = 0;
          return ENDS.map(([outcome, word, shade]) => {
            const count = row.outcomes[outcome];
            const height = (count / most) * (HEIGHT - 4);
            below += height;
            return count === 0 ? null : (
              <rect
                key={`${from} ${outcome}`}
                className={`end ${shade}`}
                x={index * slot + slot * 0.12}
                y={HEIGHT - below}
                width={slot * 0.76}
                height={height}
              >
                <title>{`${bucketName(from, period.bucket)}: ${count} ${word}`}</title>
              </rect>
            );
          });
        })}
      </svg>
      <Axis buckets={buckets} period={period} most={overall.runs === 0 ? '' : `max ${most}`} />
      <ul className="ends small">
        {ends.map(([outcome, word, shade]) => (
          <li key={outcome}>
            <span className={`swatch ${shade}`} aria-hidden="true" /> {overall.outcomes[outcome]} {word}
          </li>
        ))}
      </ul>
    </figure>
  );
}

const Axis = ({ buckets, period, most }: Pick<ChartProps, 'buckets' | 'period'> & { most: string }) => (
  <p className="axis small faint">
    <span>{bucketName(buckets[0]?.from ?? '', period.bucket)}</span>
    <span>{most}</span>
    <span>{bucketName(buckets.at(-1)?.from ?? '', period.bucket)}</span>
  </p>
);
