import type { ModelDelta } from '../../protocol/model-delta.ts';
import type { ModelDeltas } from '../../store/model-deltas.ts';
import type { RunEvent } from './run-event.ts';

/** The most deltas that wait for a slow reader. Further ones are dropped, and their numbers show the gap. */
const MAX_WAITING = 500;

/** Yields the events of a run and, as they arrive, the deltas of its model. Ends with the events. */
export async function* withDeltas(
  events: AsyncGenerator<RunEvent, void, undefined>,
  source: Pick<ModelDeltas, 'subscribe'> | undefined,
  { runId, signal }: { runId: string; signal: AbortSignal | undefined },
): AsyncGenerator<RunEvent | ModelDelta, void, undefined> {
  if (source === undefined) return yield* events;
  const waiting: ModelDelta[] = [];
  let wake = (): void => undefined;
  const unsubscribe = source.subscribe(runId, (delta) => {
    if (waiting.length < MAX_WAITING) waiting.push(delta);
    wake();
  });
  // A reader that leaves does not ask for the next event, so the end of this function may never be reached.
  signal?.addEventListener('abort', unsubscribe, { once: true });
  try {
    let next = nextOf(events);
    for (;;) {
      const arrived = new Promise<null>((resolve) => {
        wake = () => resolve(null);
      });
      if (waiting.length > 0) wake();
      const first = await Promise.race([arrived, next]);
      if (first === null) {
        yield* waiting.splice(0);
        continue;
      }
      if (first.done === true) return;
      yield first.value;
      next = nextOf(events);
    }
  } finally {
    unsubscribe();
    signal?.removeEventListener('abort', unsubscribe);
  }
}

/** Asks for the next event. Its failure is thrown where it is awaited, which may be later. */
function nextOf(events: AsyncGenerator<RunEvent, void, undefined>): Promise<IteratorResult<RunEvent, void>> {
  const next = events.next();
  next.catch(() => undefined);
  return next;
}
