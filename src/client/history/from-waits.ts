import { isoTime } from '../../protocol/time.ts';
import { type HistoryEvent, jsonOf, millisecondsOf, textOf } from './history-event.ts';
import type { ProjectionState } from './projection-state.ts';
import type { Fact } from './run-event.ts';

/** How the story words a back-off: its timers carry the sentence as their summary. */
const BACK_OFF = /^back-off before attempt (\d{1,9}) of step (\d{1,9})$/;

/** A timer is a wait; the sentence that came with it says what for. */
export function factsOfTimer(state: ProjectionState, event: HistoryEvent): Fact[] {
  const why = textOf(jsonOf(event.userMetadata?.summary));
  const waitMs = Math.max(0, millisecondsOf(event.timerStartedEventAttributes?.startToFireTimeout) ?? 0);
  const backOff = BACK_OFF.exec(why);
  const until = Date.parse(state.at) + waitMs;
  return [
    {
      event: 'waiting',
      reason: backOff !== null ? 'back_off' : state.question !== null ? 'answer' : 'other',
      why,
      wait_ms: waitMs,
      // A timer of thousands of years has an end that no calendar can name.
      until: until <= MAX_TIME_MS ? isoTime(until) : isoTime(MAX_TIME_MS),
      step_id: backOff === null ? null : Number(backOff[2]),
      attempt: backOff === null ? null : Number(backOff[1]),
    },
  ];
}

const MAX_TIME_MS = 8.64e15;
