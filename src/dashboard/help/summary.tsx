import type { ReactNode } from 'react';
import type { LessonMetrics, RunMetrics } from '../../protocol/run-metrics.ts';
import { countOf, dollars, percent, seconds } from './figures.ts';

/** The four answers of this page in figures: do runs complete, what was spared, what was wasted, and were the guards right. */
export function Summary({ overall, lessons }: { overall: RunMetrics; lessons: LessonMetrics[] }) {
  const { runs, outcomes, waste, guard, held_calls: held } = overall;
  const others = runs - outcomes.completed;
  return (
    <dl className="tiles">
      <Tile name="Completed" value={runs === 0 ? '–' : percent(outcomes.completed / runs)}>
        {outcomes.completed} of {countOf(runs, 'run')}
        {others > 0 && `; ${others} ended in another way`}
      </Tile>
      <Tile name="Repeats avoided" value={held.toLocaleString('en')}>
        {held === 1 ? 'repeated call was' : 'repeated calls were'} answered with guidance instead of being run.{' '}
        {lessonText(lessons)}
      </Tile>
      <Tile name="Waste" value={percent(waste.share_of_attempts)}>
        {waste.attempts === 0
          ? 'no attempt was made in vain'
          : `${countOf(waste.attempts, 'attempt')}, ${seconds(waste.seconds)} and ${dollars(waste.cost_micro_usd)} after the last progress of runs that did not complete`}
      </Tile>
      <Tile name="False alarms" value={percent(guard.false_alarm_rate)}>
        {guard.decisions === 0
          ? 'no guard had to decide anything'
          : `${guard.wrong} of ${countOf(guard.decisions, 'decision')} called wrong; ${guard.judged} judged`}
      </Tile>
    </dl>
  );
}

function lessonText(lessons: LessonMetrics[]): string {
  const shown = lessons.reduce((sum, row) => sum + row.shown, 0);
  const withheld = lessons.reduce((sum, row) => sum + row.withheld, 0);
  const known = lessons.filter(({ repeats_avoided }) => repeats_avoided !== null);
  if (known.length === 0) return 'What lessons prevent is not known yet.';
  const avoided = known.reduce((sum, row) => sum + (row.repeats_avoided ?? 0), 0);
  return `Lessons prevented about ${avoided.toFixed(1)} more (${shown} runs saw them, ${withheld} did not).`;
}

const Tile = ({ name, value, children }: { name: string; value: string; children: ReactNode }) => (
  <div className="card tile">
    <dt className="soft">{name}</dt>
    <dd>
      <strong className="tile-value">{value}</strong>
      <span className="small faint block">{children}</span>
    </dd>
  </div>
);
