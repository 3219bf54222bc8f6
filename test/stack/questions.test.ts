/**
 * What a person sees of a question before the answer: over HTTP, in a webhook and on the command line, on a real Temporal and a real
 * Postgres with a scripted model behind a real socket. MCP: `mcp-server.test.ts`.
 */
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { type ServedApi, serveApi } from '../../src/api/serve.ts';
import type { FailureItem, ProjectedStep, QuestionPage, TranscriptMessage } from '../../src/client/views.ts';
import { defineAgent } from '../../src/define/define-agent.ts';
import { agentTool, defineTool, ToolError } from '../../src/index.ts';
import { hashOfJson, subRunId, workflowIdOfRun } from '../../src/protocol/ids.ts';
import type { Json } from '../../src/protocol/json.ts';
import type { PendingQuestion } from '../../src/protocol/questions.ts';
import type { RunRequest, RunStatus } from '../../src/protocol/run.ts';
import { type Script, scriptedModel, type ScriptedServer, serveScriptedModel } from '../../src/testing.ts';
import { type ApiWorld, openApiWorld, tokenOf } from '../support/api-world.ts';
import { runCommand } from './cli-process.ts';

const SECRET = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';

/** What the tool was really called with. */
const sent: { input: string; key: string }[] = [];
const transfer = defineTool({
  name: 'transfer',
  description: 'sends money',
  effect: 'side_effect',
  approval: true,
  input: z.strictObject({ to: z.string(), amount: z.int().positive(), note: z.string().optional() }),
  output: z.json(),
  run: (input, { idempotencyKey }) => {
    sent.push({ input: JSON.stringify(input), key: idempotencyKey });
    return 'sent';
  },
});
const lookUp = defineTool({
  name: 'look_up',
  effect: 'read',
  input: z.strictObject({ id: z.int() }),
  output: z.json(),
  run: ({ id }) => {
    throw new ToolError(`no right to see ${id}`, { category: 'auth', code: 'HTTP_403' });
  },
});
const charge = defineTool({
  name: 'charge',
  effect: 'side_effect',
  input: z.strictObject({ cents: z.int() }),
  output: z.json(),
  run: () => {
    throw new ToolError('the line went dead', { category: 'network', code: 'ECONNRESET', certainty: 'unknown' });
  },
});

const cashier = defineAgent({
  name: 'cashier',
  tools: [transfer],
  plan: { steps: [{ phase: 'work', tool: 'transfer', input: { to: 'DE34', amount: 700 } }] },
});

const REASON = 'The invoice 4711 is due today, so I pay it now.';
const pays: Script = ({ messages }) =>
  messages.some(({ role }) => role === 'tool')
    ? { text: 'Paid.' }
    : { text: REASON, calls: [{ tool: 'transfer', input: { to: 'DE12', amount: 500, note: `token ${SECRET}` } }] };

const payerModel = scriptedModel(pays);
let model: ScriptedServer;
let world: ApiWorld;
let api: ServedApi;

/** Receives webhooks. */
const received: { body: string }[] = [];
const hook = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk: Buffer) => (body += chunk.toString()));
  request.on('end', () => {
    received.push({ body });
    response.writeHead(204).end();
  });
});

beforeAll(async () => {
  vi.stubEnv('SECONDWIND_WEBHOOK_ALLOW_PRIVATE', '1');
  hook.listen(0, '127.0.0.1');
  await once(hook, 'listening');
  model = await serveScriptedModel(payerModel);
  const endpoint = { base_url: model.url, api_key: 'none', model: 'scripted' };
  const prices = { '*': { input: 1_000_000, output: 2_000_000 } };
  world = await openApiWorld([
    defineAgent({ name: 'payer', instructions: 'Pay the invoices.', model: endpoint, prices, tools: [transfer] }),
    defineAgent({ name: 'clerk', tools: [transfer, lookUp, charge] }),
    defineAgent({ name: 'boss', tools: [agentTool(cashier, { approval: true })] }),
    cashier,
  ]);
  api = await serveApi({ fetch: (request: Request) => world.app.fetch(request) }, { host: '127.0.0.1', port: 0 });
  await world.startWorker();
});
afterAll(async () => {
  await api.close();
  await world.close();
  await model.close();
  hook.close();
  vi.unstubAllEnvs();
});

const cli = (...args: string[]) =>
  runCommand([...args, '--url', api.url], { SECONDWIND_TOKEN: tokenOf('operator'), NO_COLOR: '1' });

async function start(name: string, request: Partial<RunRequest>): Promise<string> {
  const run_id = world.newRunId(name);
  await world.runs.start({ agent: 'clerk', goal: name, run_id, ...request });
  return run_id;
}
const planOf = (tool: string, input: Json) => ({ steps: [{ phase: 'work', tool, input }] });
const statusOver = async (runId: string, role: 'viewer' | 'operator' = 'viewer') =>
  (await world.ask<RunStatus>('GET', `/v1/runs/${runId}`, { role })).body;
async function questionOf(runId: string): Promise<PendingQuestion> {
  await expect.poll(async () => (await statusOver(runId)).pending_question, { timeout: 20_000 }).toBeDefined();
  return (await statusOver(runId)).pending_question as PendingQuestion;
}
const answer = (runId: string, question: PendingQuestion, decision: string, more: object = {}) =>
  world.ask('POST', `/v1/runs/${runId}/answer`, {
    body: { question_id: question.question_id, decision, by: 'ann', ...more },
  });

describe('a question', () => {
  it('shows the call, its redacted input, the reason of the model, the cost and what each option does', async () => {
    const { port } = hook.address() as AddressInfo;
    const run_id = await start('reasoned', {
      agent: 'payer',
      goal: 'pay invoice 4711',
      policy: { humans: { notify: [`http://127.0.0.1:${port}/hook`], chain: ['bob'], default: 'deny' } },
    });
    const question = await questionOf(run_id);
    const input = { to: 'DE12', amount: 500, note: `token ${SECRET}` };
    expect(question).toMatchObject({
      kind: 'approval',
      tool: 'transfer',
      step_id: 1,
      input: { to: 'DE12', amount: 500, note: expect.stringContaining('[redacted:') },
      input_artifact_id: hashOfJson(input),
      reason: REASON,
      tried: [],
      options: ['approve', 'deny', 'stop'],
      choices: [
        { option: 'approve', does: expect.stringContaining('runs with this input') },
        { option: 'deny', does: expect.stringContaining('does not run') },
        { option: 'stop', does: expect.stringContaining('ends') },
      ],
      if_unanswered: { decision: 'deny', does: expect.stringMatching(/^bob is asked next.*decides deny: the call/) },
    });
    const { used, limit, cost_known } = question.budget;
    expect({ cost_known, attempts: used.attempts, calls: used.model_calls }).toEqual({
      cost_known: true,
      attempts: 0,
      calls: 1,
    });
    expect(used.tokens).toBeGreaterThan(0);
    expect(used.cost_micro_usd).toBeGreaterThan(0);
    expect(limit).toMatchObject({ attempts: expect.any(Number), seconds: 86_400 });

    // The whole input is an artifact that only an operator may read exactly.
    const whole = (role: 'viewer' | 'operator') =>
      world.fetch(`/v1/artifacts/${question.input_artifact_id}`, { role }).then((response) => response.text());
    await expect.poll(async () => whole('operator')).toContain(SECRET);
    expect(JSON.parse(await whole('operator'))).toEqual(input);
    expect(await whole('viewer')).not.toContain(SECRET);

    // Every door shows the same.
    await expect.poll(() => received.length).toBe(1);
    expect(JSON.parse(received[0]?.body ?? '')).toMatchObject({ type: 'question_asked', question });
    const { body: listed } = await world.ask<QuestionPage>('GET', '/v1/questions?limit=200', { role: 'viewer' });
    expect(listed.questions).toContainEqual({ run_id, agent: 'payer', goal: 'pay invoice 4711', ...question });
    const events = await world.inspector.events(run_id);
    expect(events).toContainEqual(expect.objectContaining({ event: 'question_asked', ...question }));
    const [status, shown, watched] = await Promise.all([
      cli('status', run_id),
      cli('answer', run_id),
      cli('watch', run_id),
    ]);
    for (const printed of [status.stdout, shown.stdout, watched.stderr]) {
      for (const words of [
        'transfer, step 1',
        '"amount": 500',
        REASON,
        'bob is asked next',
        'approve   The call runs',
        '$0.',
      ])
        expect(printed).toContain(words);
      expect(printed).not.toContain(SECRET);
    }
    expect(shown.stdout).toContain(`secondwind answer ${run_id} approve`);
    expect(Math.max(...shown.stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(JSON.stringify([question, listed, events, received])).not.toContain(SECRET);

    expect((await answer(run_id, question, 'deny')).body).toMatchObject({ accepted: true });
    expect((await world.runs.result(run_id)).outcome).toBe('completed');
  });

  it('about a failed step says in words what each attempt did; one about an unknown effect says what `done` means', async () => {
    const policy = { retry: { base_ms: 1 } };
    const [failed, unknown] = await Promise.all([
      start('failed', { plan: planOf('look_up', { id: 7 }), policy }),
      start('unknown', { plan: planOf('charge', { cents: 900 }), policy }),
    ]);
    const about = await questionOf(failed);
    expect(about).toMatchObject({ kind: 'failure', tool: 'look_up', input: { id: 7 }, step_id: 1 });
    expect(about.tried).toEqual([expect.stringMatching(/^Attempt 1 failed \(HTTP_403: no right to see 7\)\.$/)]);
    expect(about.choices.map(({ option }) => option)).toEqual(about.options);
    expect(about.budget.used.attempts).toBe(1);
    const open = await questionOf(unknown);
    expect(open).toMatchObject({ kind: 'unknown_effect', tool: 'charge', input: { cents: 900 } });
    expect(open.tried).toEqual([expect.stringContaining('ended without a clear answer (ECONNRESET')]);
    expect(open.choices[0]).toEqual({ option: 'done', does: expect.stringContaining('does not run again') });
    await Promise.all([answer(failed, about, 'stop'), answer(unknown, open, 'stop')]);
  });

  it('with a long input shows its beginning, how long it is, and the artifact that has the whole', async () => {
    const input = { to: 'DE12', amount: 5, note: `${'lorem ipsum '.repeat(1_000)}${SECRET}` };
    const runId = await start('long', { plan: planOf('transfer', input) });
    const question = await questionOf(runId);
    expect(question.input).toMatch(/^\{"to":"DE12","amount":5,"note":"lorem .*characters in all\)$/s);
    expect(JSON.stringify(question.input).length).toBeLessThan(2_100);
    expect(question.input_chars).toBe(JSON.stringify(input).length);
    expect(question.input_artifact_id).toBe(hashOfJson(input));
    await answer(runId, question, 'stop');
  });

  it('carries its input in each of 50 approvals', { timeout: 60_000 }, async () => {
    const inputs = Array.from({ length: 50 }, (_, n) => ({ to: `account-${n}`, amount: n + 1 }));
    const ids = await Promise.all(inputs.map((input) => start('many', { plan: planOf('transfer', input) })));
    const asked = async (): Promise<Map<string, PendingQuestion>> => {
      const { questions } = await world.runs.questions({ limit: 200 });
      return new Map(
        questions.filter(({ run_id }) => ids.includes(run_id)).map((question) => [question.run_id, question]),
      );
    };
    await expect.poll(async () => (await asked()).size, { timeout: 45_000 }).toBe(50);
    const listed = await asked();
    expect(ids.map((id) => listed.get(id)?.input)).toEqual(inputs);
    const statuses = await Promise.all(ids.map((id) => world.runs.get(id)));
    expect(statuses.map(({ pending_question: question }) => question?.input)).toEqual(inputs);
    await Promise.all(ids.map((id, n) => answer(id, statuses[n]?.pending_question as PendingQuestion, 'stop')));
  });
});

describe('an approval with another input', () => {
  const read = async <T>(runId: string, what: string): Promise<T> =>
    (await world.ask<T>('GET', `/v1/runs/${runId}/${what}`, { role: 'viewer' })).body;

  it('runs with exactly that input; steps, events, record, transcript and the model say who changed what', async () => {
    const run_id = await start('edited', { agent: 'payer', goal: 'pay invoice 4711' });
    const question = await questionOf(run_id);
    const input = { to: 'DE12', amount: 50 };
    const changes = [
      { path: '$.amount', from: 500, to: 50 },
      { path: '$.note', from: expect.stringContaining('[redacted:') },
    ];
    const before = sent.length;
    const { status, body } = await answer(run_id, question, 'approve', { input, text: 'half of it' });
    expect({ status, body }).toMatchObject({ status: 200, body: { accepted: true, changes } });
    expect((await world.runs.result(run_id)).outcome).toBe('completed');
    expect(sent.slice(before)).toEqual([{ input: JSON.stringify(input), key: expect.any(String) }]);

    const { steps } = await read<{ steps: ProjectedStep[] }>(run_id, 'steps');
    expect(steps).toMatchObject([
      {
        input,
        edited: { by: 'ann', changes, from_artifact_id: question.input_artifact_id },
        attempts: [{ output: 'sent' }],
      },
    ]);
    expect(await world.inspector.events(run_id)).toContainEqual(
      expect.objectContaining({ event: 'answered', decision: 'approve', by: 'ann', text: 'half of it', changes }),
    );
    const { failures } = await read<{ failures: FailureItem[] }>(run_id, 'failures');
    expect(failures).toMatchObject([
      {
        signal_type: 'human_correction',
        attempted_action: { tool_name: 'transfer' },
        observed_outcome: {
          error_code: 'INPUT_CHANGED',
          message_preview: expect.stringMatching(
            /^ann: changed the input of transfer before it ran: \$\.amount from 500 to 50/,
          ),
        },
      },
    ]);
    const [kept] = failures[0]?.context_refs.artifact_ids ?? [];
    const whole = await world.fetch(`/v1/artifacts/${kept}`, { role: 'operator' });
    expect(await whole.json()).toMatchObject({ run_id, by: 'ann', text: expect.stringContaining('wrote: half of it') });

    const told = payerModel.exchanges.at(-1)?.request.messages.find((message) => message.role === 'tool');
    expect(JSON.parse(told?.role === 'tool' ? (told.output as string) : '')).toEqual({
      changed_by_a_person:
        '"ann" changed the input of this call before it ran: $.amount from 500 to 50, $.note removed.',
      input_that_ran: input,
      output: 'sent',
    });
    const { transcript } = await read<{ transcript: TranscriptMessage[] }>(run_id, 'transcript');
    expect(transcript.find(({ role }) => role === 'tool')?.content).toContain('$.amount from 500 to 50');
    const [printed, watched] = await Promise.all([cli('steps', run_id), cli('watch', run_id)]);
    expect(printed.stdout).toContain('(changed by ann)');
    expect(watched.stdout).toContain('answered approve by ann, who changed $.amount from 500 to 50');
    expect(JSON.stringify([body, steps, failures, transcript, printed, watched])).not.toContain(SECRET);
  });

  it('that does not fit the schema is refused with the field, and the question stays open until one fits', async () => {
    const run_id = await start('misfit', { plan: planOf('transfer', { to: 'DE12', amount: 500 }) });
    const question = await questionOf(run_id);
    const wrong = await answer(run_id, question, 'approve', { input: { to: 'DE12', amount: -1 } });
    expect(wrong).toMatchObject({ status: 422, body: { errors: [{ path: '$.input.amount' }] } });
    const copied = await answer(run_id, question, 'approve', { input: { to: '[redacted:known] 12', amount: 1 } });
    expect(copied).toMatchObject({ status: 422, body: { errors: [{ path: '$.input.to' }] } });
    expect(JSON.stringify(copied.body)).toContain('was redacted when it was shown');
    const extra = await answer(run_id, question, 'deny', { input: { to: 'DE12', amount: 1 } });
    expect(extra).toMatchObject({ status: 422, body: { errors: [{ path: '$.input', message: expect.any(String) }] } });
    for (const role of ['viewer', 'reporter'] as const) {
      const body = {
        question_id: question.question_id,
        decision: 'approve',
        by: 'eve',
        input: { to: 'XX', amount: 1 },
      };
      expect((await world.ask('POST', `/v1/runs/${run_id}/answer`, { role, body })).status).toBe(403);
    }
    const refused = await cli('answer', run_id, 'approve', '--input', '{"to":"DE12","amount":"many"}');
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain('$.input.amount');
    // A signal cannot be answered, so the run ignores it; the history must not show it as an answer either.
    const body = { question_id: question.question_id, decision: 'approve', by: 'eve', input: { amount: 1 } };
    await world.client.workflow.getHandle(workflowIdOfRun(run_id)).signal('answer', body);
    expect((await questionOf(run_id)).question_id).toBe(question.question_id);

    const file = join(mkdtempSync(join(tmpdir(), 'secondwind-test-answer-')), 'input.json');
    writeFileSync(file, JSON.stringify({ to: 'DE99', amount: 5 }));
    const taken = await cli('answer', run_id, 'approve', '--input', `@${file}`, '--by', 'ann');
    expect(taken).toMatchObject({ code: 0, stdout: expect.stringContaining('changed $.to from "DE12" to "DE99"') });
    expect((await world.runs.result(run_id)).outcome).toBe('completed');
    expect(sent.at(-1)?.input).toBe('{"to":"DE99","amount":5}');
    const answers = (await world.inspector.events(run_id)).filter(({ event }) => event === 'answered');
    expect(answers).toMatchObject([{ by: 'ann', decision: 'approve' }]);
  });

  it('works for a run that another run started, and for the call that starts it', async () => {
    const run_id = await start('parent', { agent: 'boss', plan: planOf('cashier', { goal: 'pay all' }) });
    const first = await questionOf(run_id);
    await answer(run_id, first, 'approve', { input: { goal: 'pay one' } });
    const subRun = subRunId(run_id, 1, 1);
    const second = await questionOf(subRun);
    expect((await statusOver(subRun)).goal).toContain('pay one');
    expect(second).toMatchObject({ tool: 'transfer', input: { to: 'DE34', amount: 700 } });
    expect((await answer(subRun, second, 'approve', { input: { to: 'DE34', amount: 7 } })).body).toMatchObject({
      accepted: true,
    });
    expect((await world.runs.result(run_id)).outcome).toBe('completed');
    expect(sent.at(-1)?.input).toBe('{"to":"DE34","amount":7}');
    const { steps } = await read<{ steps: ProjectedStep[] }>(run_id, 'steps');
    expect(steps).toMatchObject([
      { edited: { by: 'ann', changes: [{ path: '$.goal', from: 'pay all', to: 'pay one' }] } },
    ]);
  });
});
