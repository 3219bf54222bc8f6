/** Streams of events over HTTP: of one run and of all, left and taken up again. On a real Temporal, store and worker. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { serveApi } from '../../src/api/serve.ts';
import { SCHEMAS } from '../../src/api/schemas/all-schemas.ts';
import type { Runs } from '../../src/client/secondwind-client.ts';
import { apiAgents, endlessPlan } from '../support/api-agents.ts';
import { type ApiWorld, openApiWorld, tokenOf } from '../support/api-world.ts';
import { readEvents, type SeenEvent, takeEvents } from '../support/event-reader.ts';

let world: ApiWorld;
beforeAll(async () => {
  world = await openApiWorld(apiAgents);
  await world.startWorker();
});
afterAll(() => world.close());

async function start(name: string, more: object = {}): Promise<string> {
  const run_id = world.newRunId(name);
  await world.runs.start({ agent: 'demo', goal: name, run_id, policy: { retry: { base_ms: 1 } }, ...more });
  return run_id;
}
const never = (): boolean => false;
const idsOf = (events: SeenEvent[]): string[] => events.map((event) => event.id);
const eventsOf = (runId: string, lastId?: string): Promise<Response> =>
  world.fetch(`/v1/runs/${runId}/events`, lastId === undefined ? {} : { headers: { 'last-event-id': lastId } });

describe('the events of one run', () => {
  it('the events of a run arrive as they happen, match their schema, and end with the run', async () => {
    const runId = await start('story');
    const response = await eventsOf(runId);
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const seen = await takeEvents(response, never);
    expect(seen.map((event) => event.event)).toEqual((await world.inspector.events(runId)).map((event) => event.event));
    expect(seen[0]).toMatchObject({ event: 'run_started', data: { goal: 'story' } });
    expect(seen.map((event) => event.event)).toContain('guidance_shown');
    expect(seen.at(-1)).toMatchObject({ event: 'run_ended', data: { outcome: 'completed' } });
    for (const event of seen) expect(SCHEMAS.RunEvent.safeParse(event.data).error).toBeUndefined();
    expect(seen.every((event) => event.data['run_id'] === runId && event.data['id'] === event.id)).toBe(true);
  });

  it('the events of a run can be continued after any of them, without gaps or repetitions', async () => {
    const runId = await start('resumed');
    const all = await takeEvents(await eventsOf(runId), never);
    for (const [position, { id }] of all.slice(0, -1).entries()) {
      const rest = await takeEvents(await eventsOf(runId, id), never);
      expect(idsOf(rest)).toEqual(idsOf(all).slice(position + 1));
    }
    const nothing = await eventsOf(runId, all.at(-1)?.id);
    expect([nothing.status, await nothing.text()]).toEqual([204, '']);
  });

  it('the events of a run end after the requested number of seconds, and the rest can be read later', async () => {
    const runId = await start('short', { agent: 'endless', plan: endlessPlan() });
    const seen = await takeEvents(await world.fetch(`/v1/runs/${runId}/events?seconds=1`), never);
    expect(seen[0]).toMatchObject({ event: 'run_started' });
    expect(seen.map((event) => event.event)).not.toContain('run_ended');
    expect(await takeEvents(await world.fetch('/v1/events?seconds=1'), never)).toBeInstanceOf(Array);
    // From the beginning of time: the source is still busy with all that was missed when the time is up.
    const began = Date.now();
    await takeEvents(await world.fetch('/v1/events?seconds=1', { headers: { 'last-event-id': '0' } }), never);
    expect(Date.now() - began).toBeLessThan(10_000);
    expect((await world.fetch(`/v1/runs/${runId}/events?seconds=0`)).status).toBe(422);
    await world.ask('POST', `/v1/runs/${runId}/cancel`, { body: { by: 'ann' } });
    const rest = await takeEvents(await eventsOf(runId, seen.at(-1)?.id), never);
    expect(idsOf([...seen, ...rest])).toEqual((await world.inspector.events(runId)).map((event) => event.id));
  });

  it('the events of an open run arrive, and a reader that comes back gets what it missed', async () => {
    const runId = await start('live', { agent: 'endless', plan: endlessPlan() });
    const before = await takeEvents(await eventsOf(runId), (event) => event.event === 'step_started');
    expect(before.map((event) => event.event)).toEqual(['run_started', 'step_started']);
    const later = takeEvents(await eventsOf(runId, before.at(-1)?.id), never);
    await world.ask('POST', `/v1/runs/${runId}/cancel`, { body: { by: 'ann', reason: 'enough' } });
    const after = await later;
    expect(after.at(-1)).toMatchObject({ event: 'run_ended', data: { outcome: 'cancelled' } });
    expect(idsOf([...before, ...after])).toEqual((await world.inspector.events(runId)).map((event) => event.id));
  });
});

describe('a reader that hangs up', () => {
  it('a reader that disconnects from a real port ends the reading of history', async () => {
    const signals: (AbortSignal | undefined)[] = [];
    const runs: Runs = {
      ...world.runs,
      watch: (runId, options) => {
        signals.push(options?.signal);
        return world.runs.watch(runId, options);
      },
    };
    const door = await openApiWorld(apiAgents, { runs });
    const served = await serveApi(door.app, { host: '127.0.0.1', port: 0 });
    onTestFinished(async () => {
      await served.close();
      await door.close();
    });
    const runId = await start('left', { agent: 'endless', plan: endlessPlan() });
    const leaving = new AbortController();
    const headers = { authorization: `Bearer ${tokenOf('viewer')}` };
    const answer = await fetch(`${served.url}/v1/runs/${runId}/events`, { headers, signal: leaving.signal });
    const reader = readEvents(answer);
    expect((await reader.next()).value).toMatchObject({ event: 'run_started' });
    expect(signals.map((signal) => signal?.aborted)).toEqual([false]);
    leaving.abort();
    await expect.poll(() => signals[0]?.aborted).toBe(true);
    await world.runs.cancel(runId, { by: 'the test' }, { waitMs: 10_000 });
  });
});

describe('the events of all runs', () => {
  it('the events of all runs include those of every run that starts later', async () => {
    const hanging = new AbortController();
    const response = await world.fetch('/v1/events', { signal: hanging.signal });
    const reading = readEvents(response);
    const first = reading.next();
    const ids = [await start('all-1'), await start('all-2')];
    const ended = new Set<unknown>();
    const seen: SeenEvent[] = [];
    for (let next = await first; next.done !== true; next = await reading.next()) {
      if (ids.includes(String(next.value.data['run_id']))) seen.push(next.value);
      if (next.value.event === 'run_ended') ended.add(next.value.data['run_id']);
      if (ids.every((id) => ended.has(id))) break;
    }
    hanging.abort();
    for (const id of ids) {
      const own = seen.filter((event) => event.data['run_id'] === id);
      const told = (await world.inspector.events(id)).map((event) => event.id);
      expect(own.map((event) => event.data['id'])).toEqual(told);
    }
    expect(new Set(idsOf(seen)).size).toBe(seen.length);
  });

  it('a reader that comes back gets the events of all runs that it missed', async () => {
    const first = await start('gap-1');
    const isEndOf = (runId: string) => (event: SeenEvent) =>
      event.event === 'run_ended' && event.data['run_id'] === runId;
    const before = await takeEvents(await world.fetch('/v1/events'), (event) => event.data['run_id'] === first);
    const last = before.at(-1);
    const second = await start('gap-2');
    await Promise.all([first, second].map((runId) => world.runs.result(runId)));
    const headers = { 'last-event-id': last?.id ?? '' };
    const after = await takeEvents(await world.fetch('/v1/events', { headers }), isEndOf(second));
    for (const runId of [first, second]) {
      const told = new Set([...before, ...after].filter((e) => e.data['run_id'] === runId).map((e) => e.data['id']));
      const all = (await world.inspector.events(runId)).map((event) => event.id);
      expect(all.filter((id) => !told.has(id))).toEqual([]);
    }
    expect(idsOf(after)).not.toContain(last?.id);
  });
});
