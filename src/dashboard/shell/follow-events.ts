import { useEffect, useRef } from 'react';
import { followStream } from '../../client/http/follow-stream.ts';
import type { RunEvent } from '../../client/history/run-event.ts';
import { isSignedOut, useSession } from './session.ts';

/** An event as a stream sends it: with the run that it belongs to. */
export type StreamedEvent = RunEvent & { run_id: string };

/** One frame. */
const FRAME_MS = 16;
/** The beginning of a long run comes as a burst. It is shown when it pauses, and no later than this, because each part is drawn anew. */
const BURST = 20;
const BURST_MS = 300;
/** Between two reconnections after the stream could not be reached any more. */
const PAUSE_MS = 2_000;

/**
 * Follows a stream of events for as long as the page is visible, and continues after the last event when it breaks. Events are handed
 * over in batches, one per frame, because the beginning of a long run is thousands of events.
 * @param path null follows nothing
 * @param onBroken called with true while the stream is broken
 */
export function useEvents(
  path: string | null,
  take: (events: StreamedEvent[]) => void,
  onBroken: (isBroken: boolean) => void,
): void {
  const { client, leave } = useSession();
  const taking = useRef(take);
  taking.current = take;
  const breaking = useRef(onBroken);
  breaking.current = onBroken;
  useEffect(() => {
    if (path === null) return undefined;
    let lastId: string | undefined;
    let isOver = false;
    let waiting: StreamedEvent[] = [];
    let since = 0;
    let flushing: ReturnType<typeof setTimeout> | undefined;
    let leaving = new AbortController();
    const flush = (): void => {
      flushing = undefined;
      const batch = waiting;
      waiting = [];
      taking.current(batch);
    };
    const follow = async (signal: AbortSignal): Promise<void> => {
      while (!signal.aborted && !isOver) {
        try {
          const options = { path, signal, isLast: isRunEnd(path), ...(lastId !== undefined && { afterId: lastId }) };
          for await (const { id, data } of followStream(client.api, options)) {
            lastId = id;
            breaking.current(false);
            waiting.push(JSON.parse(data) as StreamedEvent);
            if (flushing === undefined) since = performance.now();
            else if (waiting.length < BURST || performance.now() - since > BURST_MS) continue;
            clearTimeout(flushing);
            flushing = setTimeout(flush, FRAME_MS);
          }
          // The stream of a run ends with the run.
          if (path !== '/v1/events') isOver = true;
        } catch (error) {
          if (signal.aborted) return;
          if (isSignedOut(error)) return leave('The token is no longer valid.');
          breaking.current(true);
          await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
        }
      }
    };
    // A browser opens few connections to one server, and each visible stream holds one.
    const look = (): void => {
      leaving.abort();
      leaving = new AbortController();
      if (document.visibilityState === 'visible') void follow(leaving.signal);
    };
    look();
    document.addEventListener('visibilitychange', look);
    return () => {
      document.removeEventListener('visibilitychange', look);
      clearTimeout(flushing);
      leaving.abort();
    };
  }, [path, client, leave]);
}

const isRunEnd = (path: string) => (event: { event: string }) => path !== '/v1/events' && event.event === 'run_ended';
