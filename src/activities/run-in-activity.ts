import { activityInfo, ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity';
import type { Json } from '../protocol/json.ts';
import type { CallCancelled, CallFailed } from '../protocol/tools.ts';

/** The runner sends heartbeats, so that tools do not have to and a lost worker is noticed within seconds. */
const BEAT_MS = 1_000;

/** The part of Temporal's activity context that a call gets. */
export interface ActivityCall {
  signal: AbortSignal;
  stopped: () => 'cancelled' | 'shutdown' | null;
  heartbeat(details?: Json): void;
}

/**
 * Sends heartbeats while the work runs, and tells the two reasons to stop it apart: a cancel and a worker that shuts
 * down.
 */
export async function withHeartbeat<T>(work: (call: ActivityCall) => Promise<T>): Promise<T> {
  const context = Context.current();
  let latest: Json = null;
  const beat = setInterval(() => context.heartbeat(latest), BEAT_MS);
  beat.unref();
  const call: ActivityCall = {
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
    return await work(call);
  } finally {
    clearInterval(beat);
  }
}

/**
 * Returns a successful outcome and throws any other. A failed attempt becomes a failed activity, so that Temporal's UI
 * shows it as failed, with the whole outcome in its details.
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
