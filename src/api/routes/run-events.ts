import { z } from 'zod';
import { compareEventIds } from '../../client/history/event-id.ts';
import { RunNotFoundError } from '../../protocol/errors.ts';
import type { ApiContext, ApiDeps } from '../api-context.ts';
import { readQuery, readRunId } from '../read-request.ts';
import type { Route } from '../route.ts';
import { wholeNumber } from '../schemas/shared-schemas.ts';
import { eventStream, type StreamMessage } from '../watch/event-stream.ts';

const LAST_EVENT_ID = { name: 'Last-Event-ID', description: 'The id of the last event that the reader has' };
/** For readers that cannot keep a connection open: they reconnect with the id of the last event. */
const streamQuery = z.strictObject({ seconds: wholeNumber(1, 3_600).optional() });
/** Whether the stream of a run also has what its model produces right now. */
const runStreamQuery = streamQuery.extend({ deltas: z.enum(['true', 'false']).optional() });
const STREAM = {
  status: 200,
  description: 'Server-sent events',
  media: 'text/event-stream',
  schema: 'SentEvent',
} as const;

/** The id that a reader sends when it reconnects. An unknown id starts at the beginning. */
const lastEventId = (c: ApiContext): string | undefined => c.req.header('last-event-id')?.slice(0, 400) || undefined;

const failing =
  ({ log }: ApiDeps, c: ApiContext) =>
  (error: unknown): void =>
    log?.error({ err: error, request_id: c.get('requestId'), path: c.req.path }, 'a stream failed');

export const runEvents: Route = {
  method: 'get',
  path: '/v1/runs/{run_id}/events',
  role: 'viewer',
  summary: 'The events of a run, from its start or after a given event, until it has ended',
  headers: [LAST_EVENT_ID],
  query: runStreamQuery,
  answer: STREAM,
  moreAnswers: [{ status: 204, description: 'The run has ended and the reader has all events' }],
  problems: ['run_not_found'],
  handle: async (c, deps) => {
    const { runs, inspector } = deps;
    const { seconds, deltas = 'true' } = readQuery(c, runStreamQuery);
    const runId = readRunId(c);
    const afterId = lastEventId(c);
    // Checked before the stream begins, because the status cannot be changed later. A browser does not reconnect after 204.
    if (afterId === undefined ? !(await inspector.exists(runId)) : await hasSeenAll(deps, runId, afterId)) {
      if (afterId === undefined) throw new RunNotFoundError(runId);
      return c.body(null, 204);
    }
    const open = async function* (signal: AbortSignal): AsyncGenerator<StreamMessage> {
      const options = { signal, ...(afterId && { afterId }) };
      const events = deltas === 'true' ? runs.watch(runId, { ...options, deltas: true }) : runs.watch(runId, options);
      for await (const event of events) {
        const data = { run_id: runId, ...event };
        yield event.event === 'model_delta' ? { event: event.event, data } : { id: event.id, event: event.event, data };
      }
    };
    return eventStream(c, open, { seconds, onError: failing(deps, c) });
  },
};

async function hasSeenAll({ inspector }: ApiDeps, runId: string, afterId: string): Promise<boolean> {
  const last = (await inspector.events(runId)).at(-1);
  return last?.event === 'run_ended' && compareEventIds(last.id, afterId) <= 0;
}

export const allEvents: Route = {
  method: 'get',
  path: '/v1/events',
  role: 'viewer',
  summary: 'The events of all runs, from now on or after a given event',
  headers: [LAST_EVENT_ID],
  query: streamQuery,
  answer: STREAM,
  handle: (c, deps) => {
    const { seconds } = readQuery(c, streamQuery);
    const afterId = lastEventId(c);
    const open = async function* (signal: AbortSignal): AsyncGenerator<StreamMessage> {
      for await (const { id, run_id, event } of deps.inspector.feed.subscribe({
        signal,
        ...(afterId && { afterId }),
      })) {
        yield { id, event: event.event, data: { run_id, ...event } };
      }
    };
    return eventStream(c, open, { seconds, onError: failing(deps, c) });
  },
};
