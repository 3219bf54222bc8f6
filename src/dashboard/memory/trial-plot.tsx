/** What a trial found: runs that saw the lesson against runs from which it was withheld. */
export interface TrialShown {
  shown: { n: number; ok: number };
  withheld: { n: number; ok: number };
  effect: number | null;
  low: number;
  high: number;
  verdict: 'helps' | 'harms' | 'open';
}

const WIDTH = 240;
const points = (share: number): string => `${share >= 0 ? '+' : '−'}${Math.abs(Math.round(share * 100))}`;
const percent = ({ n, ok }: { n: number; ok: number }): string =>
  n === 0 ? 'no run' : `${Math.round((100 * ok) / n)} % of ${n}`;

/** The effect as a dot with its interval, on an axis from −100 to +100 points. The words say the same. */
export function TrialPlot({ trial }: { trial: TrialShown | null }) {
  if (trial === null) return <p className="small faint trial">No matching run yet.</p>;
  const { shown, withheld, effect } = trial;
  const at = (value: number): number => ((Math.max(-1, Math.min(1, value)) + 1) / 2) * WIDTH;
  const sentence = `Right at the first attempt: ${percent(shown)} with it, ${percent(withheld)} without.`;
  return (
    <figure className="trial">
      <svg viewBox={`0 0 ${WIDTH} 24`} role="img" aria-label={`${sentence} ${effectText(trial)}`}>
        <line className="axis" x1={0} x2={WIDTH} y1={12} y2={12} />
        <line className="zero" x1={at(0)} x2={at(0)} y1={2} y2={22} />
        <line className={`interval ${trial.verdict}`} x1={at(trial.low)} x2={at(trial.high)} y1={12} y2={12} />
        {effect !== null && <circle className={trial.verdict} cx={at(effect)} cy={12} r={5} />}
      </svg>
      <figcaption className="small">
        <span className="block">{sentence}</span>
        <span className="soft">{effectText(trial)}</span>
      </figcaption>
    </figure>
  );
}

function effectText({ effect, low, high, verdict }: TrialShown): string {
  if (effect === null) return 'The effect is not known until both sides have a run.';
  const word = { helps: 'It helps.', harms: 'It harms.', open: 'Not decided yet.' }[verdict];
  return `Effect ${points(effect)} points (${points(low)} to ${points(high)}). ${word}`;
}
