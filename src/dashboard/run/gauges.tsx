import type { RunStatus } from '../../protocol/run.ts';
import { duration } from '../parts/times.tsx';

/** What the run has used of its limits. */
export function Gauges({ status, now }: { status: RunStatus; now: number }) {
  const { bound, budget } = status;
  const cost = budget.limit.cost_micro_usd ?? bound?.cost_micro_usd ?? null;
  const end = status.state === 'ended' ? Date.parse(status.updated_at) : now;
  const seconds = Math.max(budget.used.seconds, 0);
  return (
    <div className="gauges">
      <Gauge name="attempts" used={budget.used.attempts} most={bound?.attempts ?? null} show={String} />
      <Gauge name="cost" used={budget.used.cost_micro_usd} most={cost} show={dollars} />
      <Gauge
        name="time"
        used={budget.limit.seconds === null ? (end - Date.parse(status.started_at)) / 1_000 : seconds}
        most={budget.limit.seconds}
        show={(value) => duration(value * 1_000)}
      />
    </div>
  );
}

interface GaugeProps {
  name: string;
  used: number;
  most: number | null;
  show: (value: number) => string;
}

function Gauge({ name, used, most, show }: GaugeProps) {
  const share = most === null || most === 0 ? 0 : Math.min(1, used / most);
  const text = most === null ? `${show(used)}, no limit` : most === 0 ? 'none' : `${show(used)} of ${show(most)}`;
  return (
    <div className="gauge">
      <div className="row">
        <span className="soft grow">{name}</span>
        <strong>{text}</strong>
      </div>
      <div
        className={`bar ${share >= 0.9 ? 'high' : ''}`}
        role="meter"
        aria-label={name}
        aria-valuetext={text}
        aria-valuemin={0}
        aria-valuemax={1}
        aria-valuenow={Math.round(share * 100) / 100}
      >
        <span style={{ width: `${Math.max(share * 100, used > 0 && most !== null ? 1 : 0)}%` }} />
      </div>
    </div>
  );
}

const dollars = (micro: number): string => `$${(micro / 1_000_000).toFixed(micro > 0 && micro < 10_000 ? 4 : 2)}`;
