import { SecondwindError } from '../../protocol/errors.ts';
import type { RunEvent } from '../history/run-event.ts';
import type { ShownGuidance } from '../views.ts';

/** What an attempt of a step was shown; the latest that was shown anything, unless one is named. */
export function guidanceOf(events: readonly RunEvent[], stepId: number, attempt?: number): ShownGuidance {
  const shown = events.flatMap((event) =>
    event.event === 'guidance_shown' && event.step_id === stepId && (attempt === undefined || event.attempt === attempt)
      ? [{ step_id: stepId, attempt: event.attempt, guidance: event.guidance, rows: event.rows }]
      : [],
  );
  const latest = shown.sort((one, other) => one.attempt - other.attempt).at(-1);
  if (latest !== undefined) return latest;
  const which = attempt === undefined ? `No attempt of step ${stepId}` : `Attempt ${attempt} of step ${stepId}`;
  throw new SecondwindError(
    'no_guidance',
    `${which} was shown guidance${attempt === undefined ? '' : ', or there is no such attempt'}.`,
    'Only attempts after a failure are shown any; the list of steps has all attempts.',
  );
}
