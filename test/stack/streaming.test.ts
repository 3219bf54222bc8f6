/**
 * What a model produces reaches people while its turn is still open: over server-sent events, the typed client and the command line, on
 * a real Temporal and a real Postgres with a scripted model that streams over a real socket and keeps its turns open.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { SCHEMAS } from '../../src/api/schemas/all-schemas.ts';
import { type ServedApi, serveApi } from '../../src/api/serve.ts';
import { fetchHistory } from '../../src/client/history/read-history.ts';
import { createHttpClient } from '../../src/client/http/http-client.ts';
import { defineAgent } from '../../src/define/define-agent.ts';
import { defineTool } from '../../src/define/define-tool.ts';
import { workflowIdOfRun } from '../../src/protocol/ids.ts';
import type { ModelDelta } from '../../src/protocol/model-delta.ts';
import { type ScriptedServer, serveScriptedModel } from '../../src/testing.ts';
import { type ApiWorld, openApiWorld, tokenOf } from '../support/api-world.ts';
import { readEvents, type SeenEvent } from '../support/event-reader.ts';
import { startCommand } from './cli-process.ts';

const SECRET = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';
const THOUGHT = `I look at the second page. The key ${SECRET} is on it, as far as I know.`;
const SHOWN = 'I look at the second page. The key [redacted:github_token] is on it, as far as I ';

const readPage = defineTool({
  name: 'book.read_page',
  description: 'reads one page of the book',
  effect: 'read',
  input: z.object({ page: z.int(), why: z.string() }),
  output: z.object({ text: z.string() }),
  run: ({ page }) => ({ text: `page ${page}` }),
});

/** Each run has its own gate, which keeps its first turn open until the test lets it go on. */
const gates = new Map<string, { open: () => void; isOpen: Promise<void> }>();
function gateOf(runId: string): { open: () => void; isOpen: Promise<void> } {
  let open = (): void => undefined;
  const gate = gates.get(runId) ?? { isOpen: new Promise<void>((resolve) => (open = resolve)), open: () => open() };
  gates.set(runId, gate);
  return gate;
}

let model: ScriptedServer;
let world: ApiWorld;
let api: ServedApi;

beforeAll(async () => {
  model = await serveScriptedModel(({ messages }) => {
    const [, question] = messages;
    const runId = question?.role === 'user' ? (question.text.split(' ')[0] ?? '') : '';
    if (messages.some(({ role }) => role === 'tool')) return { text: 'The book is short.' };
    const calls = [{ tool: 'book_read_page', input: { page: 2, why: 'nobody has read it yet' } }];
    return { text: THOUGHT, calls, hold: () => gateOf(runId).isOpen };
  });
  const endpoint = { base_url: model.url, api_key: 'none', model: 'scripted' };
  const tools = [readPage];
  world = await openApiWorld([
    defineAgent({ name: 'streams', instructions: 'Work well.', model: endpoint, tools }),
    defineAgent({ name: 'silent', instructions: 'Work well.', model: { ...endpoint, stream: false }, tools }),
  ]);
  api = await serveApi({ fetch: (request: Request) => world.app.fetch(request) }, { host: '127.0.0.1', port: 0 });
  await world.startWorker();
});
afterAll(async () => {
  await api.close();
  await world.close();
  await model.close();
});

async function start(name: string, agent = 'streams'): Promise<string> {
  const run_id = world.newRunId(name);
  await world.runs.start({ agent, goal: `${run_id} Read the book.`, run_id });
  return run_id;
}
const textOf = (deltas: readonly Pick<ModelDelta, 'kind' | 'text'>[], kind: 'text' | 'tool_call'): string =>
  deltas
    .filter((delta) => delta.kind === kind)
    .map(({ text }) => text)
    .join('');

/** Everything that can be read in a value, payloads included. */
function allText(value: unknown): string {
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.values(value).map(allText).join('\n');
}

describe('a turn of a model that is under way', { timeout: 60_000 }, () => {
  it('is seen by a viewer before it ends, redacted and without event ids, and leaves nothing in history', async () => {
    const runId = await start('seen');
    const before: ModelDelta[] = [];
    const events: SeenEvent[] = [];
    const response = await world.fetch(`/v1/runs/${runId}/events`, { role: 'viewer' });
    let held = '';
    let underWay: unknown[] = [];
    for await (const event of readEvents(response)) {
      if (event.event !== 'model_delta') {
        events.push(event);
        continue;
      }
      expect(event.id).toBe('');
      expect(SCHEMAS.ModelDelta.safeParse(event.data).error).toBeUndefined();
      expect(event.data).toMatchObject({ run_id: runId, attempt: 1, final: false });
      if (event.data['turn'] !== 1) continue;
      before.push(event.data as unknown as ModelDelta);
      if (held === '' && textOf(before, 'text') === SHOWN && textOf(before, 'tool_call') !== '') {
        // The turn is open: the model has not ended it, and the run knows nothing of it yet.
        const description = await world.client.workflow.getHandle(workflowIdOfRun(runId)).describe();
        underWay = (description.raw.pendingActivities ?? []).map(({ activityType }) => activityType?.name);
        held = allText([await fetchHistory(world.client, runId), description.raw.pendingActivities]);
        gateOf(runId).open();
      }
    }
    expect(underWay).toEqual(['callModel']);
    expect(held).toContain('Read the book.');
    for (const part of ['model_delta', 'second page', 'nobody has read']) {
      expect(held).not.toContain(part);
    }
    expect(allText(await fetchHistory(world.client, runId))).not.toContain('model_delta');
    // The end of the turn shows the rest.
    expect(textOf(before, 'text')).toBe(`${SHOWN}know.`);
    expect(JSON.parse(textOf(before, 'tool_call'))).toEqual({ page: 2, why: 'nobody has read it yet' });
    expect(before.find(({ kind }) => kind === 'tool_call')).toMatchObject({ tool: 'book.read_page' });
    expect(before.map(({ seq }) => seq)).toEqual(before.map((_, index) => index + 1));
    // Without the deltas the stream is what it always was.
    expect(events.map(({ id }) => id)).toEqual((await world.inspector.events(runId)).map(({ id }) => id));
    expect(await world.runs.result(runId)).toMatchObject({ outcome: 'completed', used: { model_calls: 2, steps: 1 } });
  });

  it('is seen by the typed client that asks for it, and by no other', async () => {
    const runId = await start('typed');
    const { runs } = createHttpClient({ url: api.url, token: tokenOf('viewer') });
    const plain = (async () => {
      const names: string[] = [];
      for await (const event of runs.watch(runId)) names.push(event.event);
      return names;
    })();
    let text = '';
    for await (const event of runs.watch(runId, { deltas: true })) {
      if (event.event !== 'model_delta') continue;
      expect(event.run_id).toBe(runId);
      if (event.kind === 'text') text += event.text;
      if (text === SHOWN) gateOf(runId).open();
    }
    expect(text).toContain(SHOWN);
    expect(await plain).not.toContain('model_delta');
  });

  it('is printed by `secondwind watch`', async () => {
    const runId = await start('printed');
    const watching = startCommand(['watch', runId, '--url', api.url], { SECONDWIND_TOKEN: tokenOf('viewer') });
    // The line is complete when the call follows.
    await watching.line(/┊ I look at the second page\. The key \[redacted:github_token\] is on it/);
    gateOf(runId).open();
    expect(await watching.exited).toBe(0);
    expect(watching.stdout()).toContain('book.read_page {');
    expect(watching.stdout()).not.toContain(SECRET.slice(0, 12));
  });

  it('is not streamed for an endpoint that is set not to, with the same result', async () => {
    const runId = await start('silent', 'silent');
    gateOf(runId).open();
    const seen: string[] = [];
    for await (const event of world.runs.watch(runId, { deltas: true })) seen.push(event.event);
    expect(seen).not.toContain('model_delta');
    expect(await world.runs.result(runId)).toMatchObject({ outcome: 'completed', used: { model_calls: 2, steps: 1 } });
  });

  it('costs nothing and breaks nothing if nobody watches', async () => {
    const runId = await start('alone');
    expect(await world.store.modelDeltas.isWatched(runId)).toBe(false);
    gateOf(runId).open();
    expect(await world.runs.result(runId)).toMatchObject({ outcome: 'completed' });
  });
});
