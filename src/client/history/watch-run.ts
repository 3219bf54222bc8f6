import type { Client } from '@temporalio/client';
import type { FollowOptions } from '../secondwind-client.ts';
import { compareEventIds } from './event-id.ts';
import { projectEvent } from './project-event.ts';
import { openProjection } from './projection-state.ts';
import { readHistory } from './read-history.ts';
import type { RunEvent } from './run-event.ts';

/**
 * Yields the events of a run as they happen, from its start or after a given event, until it has ended. History is always read from
 * its beginning, because the ids are derived from it; so no event is missing or repeated.
 */
export async function* watchRun(
  client: Client,
  runId: string,
  { signal, afterId }: FollowOptions = {},
): AsyncGenerator<RunEvent, void, undefined> {
  let state = openProjection(runId);
  try {
    for await (const page of readHistory(client, runId, { follow: true, ...(signal && { signal }) })) {
      for (const historyEvent of page) {
        const projected = projectEvent(state, historyEvent);
        state = projected.state;
        for (const event of projected.events) {
          if (signal?.aborted) return;
          if (afterId === undefined || compareEventIds(event.id, afterId) > 0) yield event;
        }
      }
      if (state.ended) return;
    }
  } catch (error) {
    // An abort by the caller is not an error.
    if (!signal?.aborted) throw error;
  }
}
