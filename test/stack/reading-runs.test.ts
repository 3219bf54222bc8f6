/**
 * What people can read of a run: steps, transcript and result, over HTTP and on the command line, on a real Temporal and a real Postgres
 * with a scripted model behind a real socket. It does not prove anything about what a real model would say.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type ServedApi, serveApi } from '../../src/api/serve.ts';
import type { ProjectedStep, TranscriptMessage } from '../../src/client/views.ts';
import { fetchHistory } from '../../src/client/history/read-history.ts';
import { createHttpClient } from '../../src/client/http/http-client.ts';
import { createRedactor } from '../../src/core/redaction/redact.ts';
import type { Message } from '../../src/core/transcript/message.ts';
import { defineAgent } from '../../src/define/define-agent.ts';
import { defineTool } from '../../src/define/define-tool.ts';
import { hashOfJson } from '../../src/protocol/ids.ts';
import { type Script, scriptedModel, type ScriptedServer, serveScriptedModel } from '../../src/testing.ts';
import { type ApiWorld, openApiWorld, tokenOf } from '../support/api-world.ts';
import { runCommand } from './cli-process.ts';

const SECRET = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';
const LONG = `key ${SECRET} ${'lorem ipsum '.repeat(1_000)}`;

const readPage = defineTool({
  name: 'read_page',
  description: 'reads one page of the book',
  effect: 'read',
  input: z.object({ page: z.int(), note: z.string().optional() }),
  output: z.object({ text: z.string() }),
  run: ({ page }) => ({ text: page === 99 ? LONG : `page ${page}: lorem ipsum, key ${SECRET}` }),
});

/** Waits until the test lets it go. */
let letGo = (): void => {};
const wait = defineTool({
  name: 'wait',
  description: 'waits',
  effect: 'read',
  input: z.object({}),
  output: z.json(),
  run: () => new Promise<null>((resolve) => (letGo = () => resolve(null))),
});

const reads = (page: number) => ({ calls: [{ tool: 'read_page', input: { page } }] });
const PAGES = 6;
const scripts = {
  book: [reads(1), reads(2), { text: 'I have read it.' }],
  long: ({ index }) => (index < PAGES ? reads(index + 1) : { text: 'The end.' }),
  patient: [{ calls: [{ tool: 'wait', input: {} }] }, { text: 'I have waited.' }],
  clumsy: [{ fault: 'server_error' }, { fault: 'invented_tool', tool: 'read_minds' }, reads(1), { text: 'Done.' }],
  refused: () => ({ fault: 'http_error', status: 400, message: 'no such model' }),
} satisfies Record<string, Script>;

const models = Object.fromEntries(
  Object.entries(scripts).map(([name, script]) => [name, scriptedModel(script as Script)]),
);
const servers: ScriptedServer[] = [];
let world: ApiWorld;
let api: ServedApi;

beforeAll(async () => {
  const agents = await Promise.all(
    Object.entries(models).map(async ([name, model]) => {
      const server = await serveScriptedModel(model);
      servers.push(server);
      const endpoint = { base_url: server.url, api_key: 'none', model: 'scripted' };
      return defineAgent({ name, instructions: 'Work well.', model: endpoint, tools: [readPage, wait] });
    }),
  );
  world = await openApiWorld([...agents, defineAgent({ name: 'planned', tools: [readPage] })]);
  api = await serveApi({ fetch: (request: Request) => world.app.fetch(request) }, { host: '127.0.0.1', port: 0 });
  await world.startWorker();
});
afterAll(async () => {
  await api.close();
  await world.close();
  for (const server of servers) await server.close();
});

const viewer = () => createHttpClient({ url: api.url, token: tokenOf('viewer') }).runs;
const cli = (...args: string[]) =>
  runCommand([...args, '--url', api.url], { SECONDWIND_TOKEN: tokenOf('operator'), NO_COLOR: '1' });

async function readAll(runId: string, limit: number): Promise<TranscriptMessage[]> {
  const all: TranscriptMessage[] = [];
  let cursor: string | null = null;
  do {
    const page = await viewer().transcript(runId, { limit, ...(cursor === null ? {} : { cursor }) });
    expect(page.transcript.length).toBeLessThanOrEqual(limit);
    all.push(...page.transcript);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return all;
}

const redact = createRedactor();
const contentOf = (message: Message): string =>
  message.role !== 'tool' ? message.text : typeof message.output === 'string' ? message.output : '';

/** What the model's server received with its last request, and what it answered: as people may see it. */
function conversationOf(model: string): [role: string, content: string][] {
  const last = models[model]?.exchanges.at(-1);
  const said = last?.reply.kind === 'answer' ? (last.reply.text ?? '') : '';
  const received = (last?.request.messages ?? []).map((message): [string, string] => [
    message.role,
    redact(contentOf(message)),
  ]);
  return [...received, ['assistant', said]];
}
const spoken = (transcript: TranscriptMessage[]) => transcript.map(({ role, content }) => [role, content]);

async function finished(agent: string, handOverAfter?: number): Promise<string> {
  const run_id = world.newRunId(agent);
  const workflow = handOverAfter === undefined ? {} : { hand_over_after_events: handOverAfter };
  const policy = { retry: { base_ms: 20 } };
  await world.clientWith({ workflow }).runs.start({ agent, goal: 'Read the book', run_id, policy });
  await world.runs.result(run_id);
  return run_id;
}

describe('the transcript of a run', () => {
  it('is what the model was sent and what it answered, in order and redacted, for a viewer and on the command line', async () => {
    const run_id = await finished('book');
    const transcript = await readAll(run_id, 200);
    expect(spoken(transcript)).toEqual(conversationOf('book'));
    expect(transcript.map(({ turn, role }) => `${turn} ${role}`)).toEqual([
      '1 system',
      '1 user',
      '1 assistant',
      '2 tool',
      '2 assistant',
      '3 tool',
      '3 assistant',
    ]);
    const [call] = transcript[2]?.tool_calls ?? [];
    expect(call).toMatchObject({ tool: 'read_page', input: { page: 1 } });
    expect(transcript[3]?.tool_call_id).toBe(call?.id);
    expect(JSON.stringify(transcript)).not.toContain(SECRET);
    expect(JSON.stringify(transcript)).toContain('[redacted:');

    const [told, asJson] = await Promise.all([cli('transcript', run_id), cli('transcript', run_id, '--json')]);
    expect(told).toMatchObject({ code: 0, stderr: '' });
    expect(told.stdout).toMatch(/^turn 1 {2}system\n {2}Work well\.\n\nturn 1 {2}user\n {2}Read the book\n/);
    expect(told.stdout).toContain('→ read_page {"page":1}');
    expect(told.stdout).toMatch(/turn 3 {2}assistant\n {2}I have read it\.\n$/);
    expect(JSON.parse(asJson.stdout)).toEqual({ transcript });
  });

  it('comes in pages that contain every message once, also after hand-overs', async () => {
    const run_id = await finished('long', 15);
    const events = await fetchHistory(world.client, run_id);
    expect(events.filter((event) => event.workflowExecutionContinuedAsNewEventAttributes)).not.toHaveLength(0);
    const whole = await readAll(run_id, 200);
    expect(spoken(whole)).toEqual(conversationOf('long'));
    expect(whole.at(-1)?.turn).toBe(PAGES + 1);
    for (const limit of [1, 3, 4]) expect(await readAll(run_id, limit)).toEqual(whole);
  });

  it('continues with a cursor from before the end', async () => {
    const run_id = world.newRunId('patient');
    await world.runs.start({ agent: 'patient', goal: 'Wait', run_id });
    await expect.poll(async () => (await readAll(run_id, 200)).length, { timeout: 30_000 }).toBe(3);
    const first = await viewer().transcript(run_id, { limit: 1 });
    expect(first.transcript).toMatchObject([{ role: 'system' }]);
    await expect
      .poll(async () => (await world.runs.steps(run_id))[0]?.attempts[0]?.outcome, { timeout: 30_000 })
      .toBe('running');
    letGo();
    await world.runs.result(run_id);
    const rest = await viewer().transcript(run_id, { cursor: first.next_cursor ?? '' });
    expect(spoken([...first.transcript, ...rest.transcript])).toEqual(conversationOf('patient'));
  });

  it('shows the attempts of a turn that failed: the guidance, the unusable answer and the words about it', async () => {
    const run_id = await finished('clumsy');
    const transcript = await readAll(run_id, 2);
    const received = models['clumsy']?.exchanges.map(({ request }) => request.messages) ?? [];
    // Whatever the server received at the end of a request is in the transcript, word for word.
    for (const messages of received) {
      const last = messages.at(-1);
      expect(transcript).toContainEqual(
        expect.objectContaining({ role: last?.role, content: last && redact(contentOf(last)) }),
      );
    }
    const firstTurn = transcript.filter(({ turn }) => turn === 1);
    expect(firstTurn.map(({ role }) => role).slice(0, 2)).toEqual(['system', 'user']);
    expect(JSON.stringify(firstTurn)).toContain('read_minds');
    expect(firstTurn.at(-1)).toMatchObject({ role: 'assistant', tool_calls: [{ tool: 'read_page' }] });

    // Each request is listed, and has all messages that the server received with it.
    const prompts = await viewer().prompts(run_id);
    expect(prompts.map(({ turn, attempt }) => [turn, attempt])).toEqual([
      [1, 1],
      [1, 2],
      [1, 3],
      [2, 1],
    ]);
    for (const { request } of prompts) {
      const sent = await viewer().prompts(run_id, { request });
      expect(sent.map((prompt) => prompt.request)).toEqual(request === 1 ? [1] : [request - 1, request]);
      const told = sent.at(-1)?.messages?.map(({ role, content }) => [role, content]);
      expect(told).toEqual(received[request - 1]?.map((message) => [message.role, redact(contentOf(message))]));
    }
  });

  it('shows what was sent to a model that never answered', async () => {
    const run_id = world.newRunId('refused');
    const policy = { humans: { max_questions: 0 } };
    await world.runs.start({ agent: 'refused', goal: 'Read the book', run_id, policy });
    await world.runs.result(run_id);
    expect(spoken(await readAll(run_id, 200))).toEqual([
      ['system', 'Work well.'],
      ['user', 'Read the book'],
    ]);
  });

  it('does not exist for an agent without a model, and refuses a cursor of another list', async () => {
    const run_id = world.newRunId('planned');
    const plan = { steps: [{ phase: 'read', tool: 'read_page', input: { page: 1 } }] };
    await world.runs.start({ agent: 'planned', goal: 'Read', run_id, plan });
    await world.runs.result(run_id);
    const path = `/v1/runs/${run_id}/transcript`;
    expect(await world.ask('GET', path)).toMatchObject({
      status: 404,
      body: { type: 'urn:secondwind:problem:no_transcript' },
    });
    expect(await world.ask('GET', `${path}?cursor=elsewhere`)).toMatchObject({ status: 422 });
    expect((await world.ask('GET', '/v1/runs/nobody/transcript')).status).toBe(404);
    expect((await world.ask('GET', path, { role: null })).status).toBe(401);
    expect(await cli('transcript', run_id)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('The agent of this run has no model.'),
    });
  });
});

describe('the steps of a run', () => {
  it('show what each tool got and gave back, as redacted previews with the artifact of the whole', async () => {
    const run_id = world.newRunId('steps');
    const note = `${'a long note '.repeat(400)} key ${SECRET}`;
    const inputs: { [key: string]: string | number }[] = [
      { page: 1, note: `key ${SECRET}` },
      { page: 99 },
      { page: 3, note },
    ];
    const plan = { steps: inputs.map((input) => ({ phase: 'read', tool: 'read_page', input })) };
    await world.runs.start({ agent: 'planned', goal: 'Read', run_id, plan });
    await world.runs.result(run_id);
    const { body } = await world.ask<{ steps: ProjectedStep[] }>('GET', `/v1/runs/${run_id}/steps`, { role: 'viewer' });
    const [short, long, noted] = body.steps;
    expect(short).toMatchObject({
      input: { page: 1, note: 'key [redacted:github_token]' },
      attempts: [{ outcome: 'ok', output: { text: 'page 1: lorem ipsum, key [redacted:github_token]' } }],
    });
    expect(short?.input_artifact_id).toBeUndefined();

    const [attempt] = long?.attempts ?? [];
    expect(attempt?.output).toMatch(
      /^\{"text":"key \[redacted:github_token\] lorem ipsum .*… \(\d+ characters in all\)$/,
    );
    expect(JSON.stringify(attempt?.output).length).toBeLessThan(2_200);
    const whole = await world.fetch(`/v1/artifacts/${attempt?.output_artifact_id}`);
    expect(await whole.json()).toEqual({ text: LONG });
    // The whole is for operators; everybody else gets a redacted text of it.
    const asViewer = await world.fetch(`/v1/artifacts/${attempt?.output_artifact_id}`, { role: 'viewer' });
    expect(asViewer.headers.get('content-type')).toContain('text/plain');
    const shown = await asViewer.text();
    expect(shown).toContain('key [redacted:github_token] lorem ipsum');
    expect(shown).not.toContain(SECRET);

    expect(noted?.input).toMatch(/^\{.*… \(\d+ characters in all\)$/);
    const input = (await (await world.fetch(`/v1/artifacts/${noted?.input_artifact_id}`)).json()) as object;
    expect(input).toMatchObject({ page: 3, note: expect.stringContaining('a long note') });
    expect(noted?.input_artifact_id).toBe(hashOfJson(input));
    expect(JSON.stringify(body)).not.toContain(SECRET);
    const [told, asJson] = await Promise.all([cli('steps', run_id), cli('steps', run_id, '--json')]);
    expect(told).toMatchObject({ code: 0, stderr: '' });
    expect(told.stdout).toMatch(/^STEP {2}TOOL +OUTCOME {2}ATTEMPTS {2}INPUT +OUTPUT\n/);
    expect(told.stdout).toContain('{"text":"page 1: lorem ipsum, key [redacted:github_token]"}');
    expect(JSON.parse(asJson.stdout)).toEqual(body);
    expect(await viewer().steps(run_id)).toEqual(body.steps);
  });

  it('are in no stream of events with their values', async () => {
    const run_id = world.newRunId('events');
    const plan = { steps: [{ phase: 'read', tool: 'read_page', input: { page: 1, note: 'a note' } }] };
    await world.runs.start({ agent: 'planned', goal: 'Read', run_id, plan });
    await world.runs.result(run_id);
    const events = JSON.stringify(await world.inspector.events(run_id));
    expect(events).toContain('attempt_ended');
    expect(events).not.toMatch(/lorem ipsum|a note/);
  });
});

describe('run and watch', () => {
  it('end with the result itself, also a large one', async () => {
    const plan = { steps: [{ phase: 'read', tool: 'read_page', input: { page: 99 } }] };
    const run_id = world.newRunId('result');
    await world.runs.start({ agent: 'planned', goal: 'Read', run_id, plan });
    await world.runs.result(run_id);
    const watched = await cli('watch', run_id);
    expect(watched.code).toBe(0);
    const end = watched.stdout.indexOf('completed: ');
    const printed = watched.stdout.slice(watched.stdout.indexOf('\n', end));
    expect(JSON.parse(printed)).toEqual({ text: LONG });
    const lines = (await cli('watch', run_id, '--json')).stdout.trim().split('\n');
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ event: 'run_ended', result: { output: { text: LONG } } });

    const started = await cli('run', 'long', 'Read the book');
    expect(started).toMatchObject({ code: 0, stderr: '' });
    expect(started.stdout).toMatch(/\ncompleted: [^\n]+\n"The end\."\n$/);
  });
});
