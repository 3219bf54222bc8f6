import { isoTime } from '../../protocol/time.ts';
import { type HistoryEvent, decodeJson, toMilliseconds, asText } from './history-event.ts';
import type { ProjectionState } from './projection-state.ts';
import type { Fact } from './run-event.ts';

/** The summary that core/run gives to the timer of a backoff. */
const BACK_OFF = /^back-off before attempt (\d{1,9}) of step (\d{1,9})$/;

/** A timer is a wait, and its summary says what for. */
export function projectTimer(state: ProjectionState, event: HistoryEvent): Fact[] {
  const why = asText(decodeJson(event.userMetadata?.summary));
  const waitMs = Math.max(0, toMilliseconds(event.timerStartedEventAttributes?.startToFireTimeout) ?? 0);
  const backOff = BACK_OFF.exec(why);
  const until = Date.parse(state.at) + waitMs;
  return [
    {
      event: 'waiting',
      reason: backOff !== null ? 'back_off' : state.question !== null ? 'answer' : 'other',
      why,
      wait_ms: waitMs,
      // A very long timer ends after the largest time that a Date can hold.
      until: until <= MAX_TIME_MS ? isoTime(until) : isoTime(MAX_TIME_MS),
      step_id: backOff === null ? null : Number(backOff[2]),
      attempt: backOff === null ? null : Number(backOff[1]),
    },
  ];
}

const MAX_TIME_MS = 8.64e15;
