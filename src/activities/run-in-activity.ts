import { activityInfo, ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity';
import type { Json } from '../protocol/json.ts';
import type { CallCancelled, CallFailed } from '../protocol/tools.ts';

/** The runner keeps the heart beating, so that a tool need not and a lost worker is noticed within seconds. */
const BEAT_MS = 1_000;

/** What a call gets from Temporal's activity context, in plain words. */
export interface Surroundings {
  signal: AbortSignal;
  stopped: () => 'cancelled' | 'shutdown' | null;
  heartbeat(details?: Json): void;
}

/** Beats while the work runs and tells apart the two reasons to stop it: a cancel and a worker that has to go. */
export async function withHeartbeat<T>(work: (around: Surroundings) => Promise<T>): Promise<T> {
  const context = Context.current();
  let latest: Json = null;
  const beat = setInterval(() => context.heartbeat(latest), BEAT_MS);
  beat.unref();
  const around: Surroundings = {
    signal: context.cancellationSignal,
    stopped: () => {
      if (!context.cancellationSignal.aborted) return null;
      const { reason } = context.cancellationSignal;
      const isShutdown = reason instanceof CancelledFailure && reason.message === 'WORKER_SHUTDOWN';
      return isShutdown ? 'shutdown' : 'cancelled';
    },
    heartbeat: (details) => {
      latest = details ?? null;
      context.heartbeat(latest);
    },
  };
  try {
    return await work(around);
  } finally {
    clearInterval(beat);
  }
}

/**
 * How an outcome leaves an activity. A failed attempt is a failed activity, red in every view of Temporal, with the whole
 * outcome in its details.
 */
export function returnOrThrow<Ok extends { class: 'ok' }>(outcome: Ok | CallFailed | CallCancelled): Ok {
  if (outcome.class === 'ok') return outcome;
  if (outcome.class === 'cancelled') {
    throw new CancelledFailure(`${activityInfo().activityType} was cancelled`, [outcome]);
  }
  throw ApplicationFailure.create({
    message: `${outcome.error_code}: ${outcome.message_preview}`,
    type: outcome.category,
    nonRetryable: true,
    details: [outcome],
  });
}
