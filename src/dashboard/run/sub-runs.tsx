import { Inline } from '../parts/text.tsx';
import { Link } from '../shell/router.tsx';
import type { AttemptMark, RunModel } from './run-model.ts';

/** More than so many links would push the rest of the page away; the timeline has a link for every step. */
const MAX_LINKS = 12;

export const RunLink = ({ runId, text = runId }: { runId: string; text?: string }) => (
  <Link to={`/runs/${encodeURIComponent(runId)}`} title={`Open the run ${runId}`}>
    <Inline text={text} max={80} />
  </Link>
);

/** The runs that work for this one: those that it started for a step, and those that joined from elsewhere. */
export function SubRuns({ model }: { model: RunModel }) {
  const own = model.passes
    .flatMap((pass) => pass.marks)
    .filter((mark): mark is AttemptMark & { sub_run_id: string } => mark.kind === 'attempt' && 'sub_run_id' in mark);
  const count = own.length + model.joined.length;
  if (count === 0) return null;
  return (
    <section className="card sub-runs" aria-label="Sub-runs">
      <h2>
        Sub-runs <span className="faint">{count}</span>
      </h2>
      <ul className="small">
        {own.slice(0, MAX_LINKS).map((mark) => (
          <li key={mark.sub_run_id}>
            <RunLink runId={mark.sub_run_id} />{' '}
            <span className="soft">
              step {mark.step_id}, <Inline text={mark.tool} max={40} />: {wordFor(mark)}
            </span>
          </li>
        ))}
        {model.joined.slice(0, MAX_LINKS).map((runId) => (
          <li key={runId}>
            <RunLink runId={runId} />{' '}
            <span className="soft">was started elsewhere and uses the budget of this run</span>
          </li>
        ))}
        {count > MAX_LINKS && own.length > MAX_LINKS && (
          <li className="faint">{own.length - MAX_LINKS} more: the timeline has a link for every step</li>
        )}
      </ul>
    </section>
  );
}

const wordFor = ({ outcome }: AttemptMark): string => (outcome === 'ok' ? 'succeeded' : outcome);
