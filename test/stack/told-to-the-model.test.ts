/**
 * What people say and what the run knows, on its way to the model: real Temporal and Postgres, the HTTP API, and a scripted
 * model behind a real socket. What counts is the request that the model's server received.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../src/define/define-agent.ts';
import { defineTool } from '../../src/define/define-tool.ts';
import { ToolError } from '../../src/define/tool-error.ts';
import type { FailureItem } from '../../src/client/views.ts';
import { scriptedModel, type ScriptedServer, serveScriptedModel } from '../../src/testing.ts';
import { type ApiWorld, openApiWorld } from '../support/api-world.ts';
import { eventually } from '../support/eventually.ts';

const TEXT = 'Use account "B",  not \\A\\.\n\n"""\n## then\tsay: “grüße” 👋\n';

const charged: string[] = [];
const charge = defineTool({
  name: 'charge',
  effect: 'idempotent',
  input: z.object({ account: z.string() }),
  output: z.json(),
  run: ({ account }) => {
    charged.push(account);
    if (account === 'B') return { charged: account };
    throw new ToolError('this account is closed', { category: 'auth', code: 'CLOSED' });
  },
});

/** What each attempt was given: its guidance and its longer timeout. */
const given: { guidance: string; timeout_ms: number | undefined }[] = [];
const slow = defineTool({
  name: 'slow',
  effect: 'read',
  input: z.object({}),
  output: z.json(),
  run: (_input, { guidance, constraints, attempt }) => {
    given.push({ guidance: guidance.text, timeout_ms: constraints.timeout_ms });
    if (attempt === 1) throw new ToolError('too slow', { category: 'timeout' });
    return { attempt };
  },
});

const calls = (account: string) => ({ calls: [{ tool: 'charge', input: { account } }] });
const models = {
  clerk: scriptedModel([calls('A'), calls('B'), { text: 'done' }]),
  saver: scriptedModel([calls('B'), { text: 'done' }]),
  patient: scriptedModel([calls('A'), { text: 'done' }]),
  reviser: scriptedModel([{ text: 'a first try' }, { text: 'a second try' }]),
};
const servers: ScriptedServer[] = [];
let world: ApiWorld;

beforeAll(async () => {
  const agents = await Promise.all(
    Object.entries(models).map(async ([name, model]) => {
      const server = await serveScriptedModel(model);
      servers.push(server);
      return defineAgent({
        name,
        instructions: 'Work.',
        model: { base_url: server.url, api_key: 'none', model: 'scripted' },
        tools: [charge],
        ...(name === 'reviser' && {
          review: ({ loop_id }: { loop_id: string }) => ({
            alignment_score: loop_id.endsWith('_r1') ? 1 : 0.1,
            drift_score: 0,
          }),
        }),
      });
    }),
  );
  world = await openApiWorld([...agents, defineAgent({ name: 'waiter', tools: [slow] })]);
  await world.startWorker();
}, 120_000);
afterAll(async () => {
  await world.close();
  for (const server of servers) await server.close();
});

const questionOf = (runId: string): Promise<string> =>
  eventually(
    async () => (await world.runs.get(runId)).pending_question?.question_id ?? '',
    (id) => id !== '',
  );
const lastText = (model: keyof typeof models, request: number): string => {
  const message = models[model].exchanges[request - 1]?.request.messages.at(-1);
  return message?.role === 'user' ? message.text : '';
};

/** The human_correction record of a run, and the artifact that it points to. */
async function correctionOf(runId: string) {
  const { body } = await world.ask<{ failures: FailureItem[] }>('GET', `/v1/runs/${runId}/failures`);
  const record = body.failures.find(({ signal_type }) => signal_type === 'human_correction');
  const artifact = await world.fetch(`/v1/artifacts/${record?.context_refs.artifact_ids?.[0]}`);
  return { error_code: record?.observed_outcome.error_code, said: await artifact.json() };
}

describe('a correction', () => {
  it('of a call that the model chose is in its next request, byte for byte, and the run completes', async () => {
    const run_id = world.newRunId('clerk');
    await world.runs.start({ agent: 'clerk', goal: 'Charge it.', run_id, policy: { failures: { escalate_at: 1 } } });
    const question_id = await questionOf(run_id);
    const body = { question_id, decision: 'correct', text: TEXT, by: 'ada' };
    expect((await world.ask('POST', `/v1/runs/${run_id}/answer`, { body })).body).toMatchObject({ accepted: true });
    expect(await world.runs.result(run_id)).toMatchObject({ outcome: 'completed', questions: 1 });
    expect(charged).toEqual(['A', 'B']);
    expect(lastText('clerk', 2)).toContain(TEXT);
    expect(lastText('clerk', 2)).toContain('"ada"');
    expect(await correctionOf(run_id)).toEqual({
      error_code: 'CORRECTED',
      said: { run_id, step_id: 1, by: 'ada', text: TEXT },
    });
  });

  it('as the reason of an override is in the first request of the pass that it frees', async () => {
    const run_id = world.newRunId('reviser');
    const policy = { reruns: { max_reruns: 0, on_guard: 'ask_human' as const } };
    await world.runs.start({ agent: 'reviser', goal: 'Write it.', run_id, policy });
    const question_id = await questionOf(run_id);
    const body = { question_id, decision: 'correct', text: TEXT, by: 'ada' };
    await world.ask('POST', `/v1/runs/${run_id}/answer`, { body });
    expect(await world.runs.result(run_id)).toMatchObject({ outcome: 'completed', loops: 2 });
    expect(lastText('reviser', 2)).toContain(TEXT);
    expect(await correctionOf(run_id)).toMatchObject({ error_code: 'OVERRIDDEN', said: { by: 'ada', text: TEXT } });
  });
});

describe('a budget that runs out', () => {
  it('is in the next request to the model', async () => {
    const run_id = world.newRunId('saver');
    await world.runs.start({
      agent: 'saver',
      goal: 'Charge it.',
      run_id,
      policy: { budget: { max_model_calls: 3, soft: 0.3 } },
    });
    expect(await world.runs.result(run_id)).toMatchObject({ outcome: 'completed' });
    // The request itself is the second call.
    expect(lastText('saver', 2)).toContain('model calls mostly used up (2 of 3)');
  });
});

describe('feedback that arrives while a run waits for a person', () => {
  it('is in the store before the run goes on', async () => {
    const run_id = world.newRunId('patient');
    await world.runs.start({ agent: 'patient', goal: 'Charge it.', run_id, policy: { failures: { escalate_at: 1 } } });
    const question_id = await questionOf(run_id);
    const body = { text: "No, that's wrong. I meant the other account.", by: 'ada' };
    expect((await world.ask('POST', `/v1/runs/${run_id}/feedback`, { body })).status).toBe(200);
    const stored = () => world.store.records.forRun(run_id);
    await eventually(stored, (records) => records.some(({ signal_type }) => signal_type === 'human_correction'));
    expect((await world.runs.get(run_id)).pending_question).toMatchObject({ question_id });
    expect(await correctionOf(run_id)).toMatchObject({ said: body });
    await world.runs.answer(run_id, { question_id, decision: 'skip', by: 'ada' });
    expect(await world.runs.result(run_id)).toMatchObject({ outcome: 'completed' });
  });
});

describe('a failure that a person supersedes', () => {
  it('no longer leads to guidance or constraints in the open run', async () => {
    const run_id = world.newRunId('waiter');
    const plan = { steps: [{ phase: 'work', tool: 'slow', input: {} }] };
    await world.runs.start({ agent: 'waiter', goal: 'Wait.', run_id, plan, policy: { retry: { timeout: 0 } } });
    const question_id = await questionOf(run_id);
    const [record] = await eventually(
      () => world.store.records.forRun(run_id),
      (records) => records.length === 1,
    );
    const path = `/v1/failures/${record?.failure_id}/revisions`;
    const body = { status: 'superseded', by: 'ada', reason: 'the server has moved' };
    expect(await world.ask('POST', path, { body })).toMatchObject({ status: 201, body: { status: 'superseded' } });
    await world.runs.answer(run_id, { question_id, decision: 'retry', by: 'ada' });
    expect(await world.runs.result(run_id)).toMatchObject({ outcome: 'completed', failures: { active: 0 } });
    expect(given.at(-1)).toEqual({ guidance: '', timeout_ms: undefined });
    expect(await world.runs.failures(run_id)).toMatchObject([{ status: 'superseded' }]);
  });
});
