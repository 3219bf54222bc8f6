import { memo } from 'react';
import type { ListedRun } from '../../client/views.ts';
import { StateBadge } from '../parts/state-badge.tsx';
import { Inline } from '../parts/text.tsx';
import { Ago, duration } from '../parts/times.tsx';
import { Link } from '../shell/router.tsx';

/** One run in the list. */
export const RunRow = memo(({ run, now }: { run: ListedRun; now: number }) => {
  const took = (run.ended_at === null ? now : Date.parse(run.ended_at)) - Date.parse(run.started_at);
  return (
    <Link to={`/runs/${encodeURIComponent(run.run_id)}`} className="run-row">
      <span className="run-state">
        <StateBadge state={run.state} outcome={run.outcome} />
      </span>
      <span className="run-goal cut">
        <strong>
          <Inline text={run.goal || 'no goal'} />
        </strong>
        <span className="faint small cut">
          <Inline text={run.agent} /> · <span className="mono">{run.run_id}</span>
          {run.labels.map((label) => (
            <span key={label} className="label">
              <Inline text={label} max={40} />
            </span>
          ))}
        </span>
      </span>
      <span className="run-number">
        {run.attempts} {run.attempts === 1 ? 'attempt' : 'attempts'}
      </span>
      <span className="run-number">{duration(took)}</span>
      <span className="run-number faint">
        <Ago iso={run.started_at} now={now} />
      </span>
    </Link>
  );
});
