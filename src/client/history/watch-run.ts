import type { Client } from '@temporalio/client';
import type { FollowOptions } from '../secondwind-client.ts';
import { compareEventIds } from './event-id.ts';
import { projectEvent } from './project-event.ts';
import { openProjection } from './projection-state.ts';
import { readHistory } from './read-history.ts';
import type { RunEvent } from './run-event.ts';

/**
 * What happens to a run, as it happens, from its start or from where a watcher left off, until it has ended. History
 * is read from its beginning each time: the ids come from it, so nothing is missing and nothing comes twice.
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
    // Whoever hung up knows so; only what happened by itself is an error.
    if (!signal?.aborted) throw error;
  }
}
