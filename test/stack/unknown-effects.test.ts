/**
 * A payment that is done and whose answer never comes, with a model that makes the identical call again whatever it is told.
 * A real receiver counts payments and drops the connection; the model's own server shows what it was sent. Needs Temporal
 * and Postgres.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../src/define/define-agent.ts';
import { httpTool } from '../../src/define/http/http-tool.ts';
import type { AnswerMessage } from '../../src/protocol/messages.ts';
import type { PolicyPatch } from '../../src/protocol/schemas/policy.ts';
import { scriptedModel, type ScriptedServer, serveScriptedModel } from '../../src/testing.ts';
import { eventually } from '../support/eventually.ts';
import { openRunWorld, type RunWorld } from '../support/run-world.ts';

interface Payment {
  key: string;
  fence: number;
}
/** Payments that were done, by order. */
const payments = new Map<string, Payment[]>();
let receiver: Server;
let url = '';

const pay = httpTool({
  name: 'pay',
  effect: 'side_effect',
  input: z.object({ order: z.string() }),
  output: z.object({ receipt: z.string() }),
  allowPrivate: ['127.0.0.1'],
  request: ({ order }) => ({ method: 'POST', url: `${url}/${order}` }),
});

/** Each test has a model of its own, which pays the same order twice and then sums up. */
const ORDERS = ['skipped', 'expired', 'done', 'not-done', 'twice', 'unusable', 'unusable-expired', 'refused'] as const;
type Order = (typeof ORDERS)[number];
const models = Object.fromEntries(
  ORDERS.map((order) => {
    const call = { calls: [{ tool: 'pay', input: { order } }] };
    return [order, scriptedModel([call, call, { text: 'paid, I think' }])];
  }),
) as Record<Order, ReturnType<typeof scriptedModel>>;
const servers: ScriptedServer[] = [];
let world: RunWorld;

beforeAll(async () => {
  receiver = createServer((asked, answer) => {
    const order = (asked.url ?? '').slice(1);
    const before = payments.get(order) ?? [];
    const key = String(asked.headers['idempotency-key']);
    payments.set(order, [...before, { key, fence: Number(asked.headers['secondwind-fence']) }]);
    if (order.startsWith('unusable')) return void answer.writeHead(200).end('{"thanks":true}');
    if (order === 'refused') return void answer.writeHead(422).end('no such account');
    // The first payment of an order commits and drops the connection.
    if (before.length === 0 && order !== 'twice') asked.socket.destroy();
    else answer.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ receipt: `${order}-2` }));
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  const agents = await Promise.all(
    ORDERS.map(async (order) => {
      const server = await serveScriptedModel(models[order]);
      servers.push(server);
      const endpoint = { base_url: server.url, api_key: 'none', model: 'scripted' };
      return defineAgent({ name: order, instructions: 'Pay.', model: endpoint, tools: [pay] });
    }),
  );
  const plan = { steps: [{ phase: 'work', tool: 'pay', input: { order: 'again' } }] };
  world = await openRunWorld([...agents, defineAgent({ name: 'planned', tools: [pay], plan })]);
  await world.startWorker();
});
afterAll(async () => {
  await world.close();
  for (const server of servers) await server.close();
  receiver.closeAllConnections();
  await new Promise((resolve) => receiver.close(resolve));
});

async function live(order: Order, answers: Partial<AnswerMessage>[], humans: PolicyPatch['humans'] = {}) {
  const run_id = world.newRunId(order);
  // A person is asked about the first failure of a step.
  const failures = { escalate_at: 1 };
  const policy = { humans, failures, memory: { scope: 'run' as const }, reruns: { max_reruns: 0 } };
  await world.runs.start({ agent: order, goal: 'pay the order', run_id, policy });
  for (const [index, answer] of answers.entries()) {
    const open = await eventually(
      async () => (await world.runs.get(run_id)).pending_question,
      (question) => question?.question_id.endsWith(`:q${index + 1}`) === true,
    );
    expect(open?.options).toEqual(['done', 'not_done', 'skip', 'stop']);
    const taken = await world.runs.answer(run_id, {
      question_id: open?.question_id ?? '',
      decision: 'skip',
      by: 'ada',
      ...answer,
    });
    expect(taken).toMatchObject({ accepted: true });
  }
  const result = await world.runs.result(run_id);
  const sent = models[order].exchanges.map(({ request }) => JSON.stringify(request.messages));
  return { result, sent, paid: payments.get(order) ?? [] };
}

describe('a payment that commits and drops the socket', () => {
  it('is not made again after a person skips it, and the model reads what the person wrote', async () => {
    const skip = { decision: 'skip' as const, text: 'I checked: it happened' };
    const { result, sent, paid } = await live('skipped', [skip], { max_questions: 1, default: 'skip' });
    expect({ payments: paid.length, attempts: result.used.attempts, questions: result.questions }).toEqual({
      payments: 1,
      attempts: 1,
      questions: 1,
    });
    expect(sent).toHaveLength(3);
    const known = expect.stringContaining('I checked: it happened') as string;
    expect(result.effects?.unknown).toMatchObject([{ key: paid[0]?.key, known }]);
    expect((await world.runs.get(result.run_id)).effects).toEqual(result.effects);
    for (const request of sent.slice(1)) {
      expect(request).toContain('It is unknown whether this call took effect');
      expect(request).toContain('I checked: it happened');
      expect(request).toContain('The same call does not run again while this is unknown.');
      expect(request).not.toContain('left this step out');
    }
  });

  it('is not made again after nobody answered in time', async () => {
    const { result, sent, paid } = await live('expired', [], { deadline_ms: 300, default: 'skip', max_questions: 2 });
    expect({ payments: paid.length, attempts: result.used.attempts, questions: result.questions }).toEqual({
      payments: 1,
      attempts: 1,
      questions: 2,
    });
    expect(sent.at(-1)).toContain('Nobody answered the question about it in time.');
  });

  it('counts as done when a person says so, and the identical call after it is a new one with its own key', async () => {
    const answer = { decision: 'done' as const, text: 'on the statement', output: { receipt: 'R-1' } };
    const { result, sent, paid } = await live('done', [answer]);
    expect({ outcome: result.outcome, questions: result.questions }).toEqual({ outcome: 'completed', questions: 1 });
    expect(sent[1]).toContain('ada said that this call took effect. ada wrote: \\\\\\"on the statement\\\\\\"');
    expect(sent[1]).toContain('R-1');
    expect(new Set(paid.map(({ key }) => key)).size).toBe(2);
  });

  it('is made again under the same key and a higher fence when a person says that it was not done', async () => {
    const { paid } = await live('not-done', [{ decision: 'not_done' }]);
    const [first, second, third] = paid;
    expect(second?.key).toBe(first?.key);
    expect(second?.fence).toBeGreaterThan(first?.fence ?? 0);
    // The model's second call comes after one that is known to be done.
    expect(third?.key).not.toBe(first?.key);
  });

  it('two identical calls that both succeed are two orders with two keys', async () => {
    const { paid } = await live('twice', []);
    expect(new Set(paid.map(({ key }) => key)).size).toBe(2);
  });
});

describe('a payment that is done and whose output cannot be used', () => {
  const paidOnce = { payments: 1, attempts: 1, questions: 1 };

  it('is not made again after a person skips it, and the model reads that it took effect and what the person wrote', async () => {
    const skip = { decision: 'skip' as const, text: 'the receipt comes by mail' };
    const { result, sent, paid } = await live('unusable', [skip], { default: 'skip' });
    expect({ payments: paid.length, attempts: result.used.attempts, questions: result.questions }).toEqual(paidOnce);
    expect(sent).toHaveLength(3);
    for (const request of sent.slice(1)) {
      expect(request).toContain('The call took effect, but its output cannot be used');
      expect(request).toContain('the receipt comes by mail');
      expect(request).not.toContain('not_run');
    }
  });

  it('is not made again after nobody answered in time, and the model does not read that a person decided', async () => {
    const humans = { deadline_ms: 300, default: 'skip' as const };
    const { result, sent, paid } = await live('unusable-expired', [], humans);
    expect({ payments: paid.length, attempts: result.used.attempts, questions: result.questions }).toEqual(paidOnce);
    for (const request of sent.slice(1)) {
      expect(request).toContain('The call took effect, but its output cannot be used');
      expect(request).toContain('Nobody answered the question about it in time.');
      expect(request).not.toContain('left this step out');
    }
  });
});

it('after a deadline the model reads how a call failed and that nobody answered in time', async () => {
  const { sent } = await live('refused', [], { deadline_ms: 300, default: 'skip', max_questions: 1 });
  expect(sent[1]).toContain('HTTP_422');
  expect(sent[1]).toContain('Nobody answered in time, so this step was left out.');
  expect(sent[1]).not.toContain('not_run');
});

it('a run that is started again asks about a payment of unknown outcome and does not repeat it', async () => {
  const run_id = world.newRunId('again');
  const humans = { deadline_ms: 300, default: 'skip' as const };
  const policy = { humans, memory: { scope: 'run' as const }, reruns: { max_reruns: 0 } };
  await world.runs.start({ agent: 'planned', goal: 'pay the order', run_id, policy });
  await world.runs.result(run_id);
  const second = await world.runs.rerun(run_id, { by: 'ada' });
  expect(await world.runs.result(second.run_id)).toMatchObject({ questions: 1, used: { attempts: 0 } });
  const third = await world.runs.rerun(second.run_id, { by: 'ada' });
  expect(await world.runs.result(third.run_id)).toMatchObject({ questions: 1, used: { attempts: 0 } });
  expect(payments.get('again')).toHaveLength(1);
});
