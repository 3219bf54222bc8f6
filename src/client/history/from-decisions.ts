import { type Fields, textOf } from './history-event.ts';
import type { ProjectionState } from './projection-state.ts';
import type { Fact } from './run-event.ts';

/** A pass was judged and another follows: told when it happens, not only at the end. */
export function factsOfDecided(state: ProjectionState, item: Fields): Fact[] {
  const facts = factsOfLoop(item);
  if (facts.length > 0) state.decided = [...state.decided, textOf(item['loop_id'])];
  return facts;
}

/** A loop that was never judged, because the run was stopped before, has neither review nor decision. */
export function factsOfLoop(item: Fields): Fact[] {
  const loop_id = textOf(item['loop_id']);
  const isRerun = typeof item['rerun_reason'] === 'string';
  if (!isRerun && typeof item['finalize_reason'] !== 'string') return [];
  const pick = (...names: string[]): Fields => Object.fromEntries(names.map((name) => [name, item[name] ?? null]));
  const review = pick('reflection_persona', 'bias_echo', 'repeated_tags', 'reflection_fatigue', 'fatigue_increased');
  const ruling = isRerun
    ? pick('rerun_reason', 'rerun_reason_detail', 'overridden_by')
    : pick('finalize_reason', 'force_finalize');
  return [
    { ...review, ...pick('timestamp'), event: 'review', source: 'run', loop_id },
    {
      ...ruling,
      ...pick('rerun_trigger', 'rerun_count', 'max_reruns', 'timestamp'),
      event: 'decision',
      source: 'run',
      loop_id,
      decision: isRerun ? 'rerun' : 'finalize',
    },
  ];
}
