import { type Fields, asText } from './history-event.ts';
import type { ProjectionState } from './projection-state.ts';
import type { Fact } from './run-event.ts';

/** The facts of a pass that was reviewed and is followed by another. They are emitted at once and not only at the end. */
export function projectDecided(state: ProjectionState, item: Fields): Fact[] {
  const facts = projectLoop(item);
  if (facts.length > 0) state.decided = [...state.decided, asText(item['loop_id'])];
  return facts;
}

/** A pass that was stopped before its review has neither review nor decision. */
export function projectLoop(item: Fields): Fact[] {
  const loop_id = asText(item['loop_id']);
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
