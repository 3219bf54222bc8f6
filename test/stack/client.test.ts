/** One suite of behaviours of the typed client, lived twice: over HTTP through a real socket, and over Temporal itself. */
import { createServer, type Server } from 'node:http';
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { z } from 'zod';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { serveApi, type ServedApi } from '../../src/api/serve.ts';
import {
  createClient,
  defineAgent,
  FamilyTakenError,
  GuardRefusedError,
  IdempotencyConflictError,
  MessageRefusedError,
  NotReachableError,
  RunEndedError,
  RunExistsError,
  RunNotFoundError,
  RunRequestError,
  type Runs,
  type SecondwindClient,
  SecondwindError,
} from '../../src/index.ts';
import { apiAgents, endlessPlan } from '../support/api-agents.ts';
import { type ApiWorld, openApiWorld, tokenOf } from '../support/api-world.ts';
import { GOOD, LOW, newFamily, report } from '../support/guard-world.ts';

let world: ApiWorld;
let served: ServedApi;
beforeAll(async () => {
  world = await openApiWorld(apiAgents);
  await world.startWorker();
  served = await serveApi(world.app, { host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  await served.close();
  await world.close();
});

const quick = { retry: { base_ms: 1 } };
const failing = { steps: [{ phase: 'work', tool: 'demo.flaky', input: { fail_times: 9, error_code: 'auth' } }] };
const overHttp = (url = served.url): Runs => createClient({ url, token: tokenOf('operator') }).runs;
const clients: [string, () => SecondwindClient][] = [
  ['HTTP', () => createClient({ url: served.url, token: tokenOf('operator') })],
  ['Temporal', () => world.clientWith({})],
];
const ways = clients.map(([way, open]): [string, () => Runs] => [way, () => open().runs]);

async function untilAsked(runs: Runs, runId: string): Promise<string> {
  for await (const event of runs.watch(runId)) if (event.event === 'question_asked') return event.question_id;
  throw new Error('The run has ended without a question.');
}

describe.each(ways)('the typed client over %s', (_way, over) => {
  const start = async (name: string, more: object = {}): Promise<string> => {
    const run_id = world.newRunId(name);
    await over().start({ agent: 'demo', goal: name, run_id, policy: quick, ...more });
    return run_id;
  };

  it('starts a run, follows it to its end and tells how it ended', async () => {
    const runs = over();
    const run_id = world.newRunId('whole');
    const started = await runs.start({ agent: 'demo', goal: 'whole', run_id, policy: quick, labels: [run_id] });
    expect(started).toEqual({ run_id, workflow_id: `agent-run/${run_id}`, bound: expect.any(Object) });
    const events = [];
    for await (const event of runs.watch(run_id)) events.push(event.event);
    expect([events[0], events.at(-1)]).toEqual(['run_started', 'run_ended']);
    expect(events).toEqual(expect.arrayContaining(['failure_recorded', 'guidance_shown']));
    const end = await runs.result(run_id);
    expect(end).toMatchObject({ run_id, agent: 'demo', outcome: 'completed', used: { attempts: 2 }, loops: 1 });
    expect(await runs.get(run_id)).toMatchObject({ state: 'ended', outcome: 'completed', bound: started.bound });
    const listed = async () => (await runs.list({ label: run_id })).runs.map((run) => run.run_id);
    await expect.poll(listed, { timeout: 10_000 }).toEqual([run_id]);
    expect((await runs.steps(run_id))[0]?.attempts).toHaveLength(2);
    expect(await runs.failures(run_id)).toHaveLength(1);
    expect(await runs.trace(run_id)).toHaveLength(1);
    expect((await runs.guidance(run_id, { stepId: 1 })).attempt).toBe(2);
  });

  it('gives the output its type and its defaults when the agent is at hand, and tells where it does not fit', async () => {
    const runs = over();
    const step = { phase: 'work', tool: 'demo.flaky', input: { fail_times: 0, output: { price: 7 } } };
    const run_id = await start('typed', { plan: { steps: [step] } });
    const output = z.object({ price: z.number(), currency: z.string().default('EUR') });
    const agent = defineAgent({ name: 'demo', instructions: 'Name the price.', tools: [], output });
    const end = await runs.result(run_id, { agent });
    expect(end.result?.output.currency).toBe('EUR');
    expect((await runs.result(run_id)).result?.output).toEqual({ price: 7 });
    const other = defineAgent({ name: 'demo', instructions: 'Talk.', tools: [], output: z.string() });
    await expect(runs.result(run_id, { agent: other })).rejects.toMatchObject({ code: 'other_output' });
  });

  it('goes on watching after the last event that was seen', async () => {
    const runs = over();
    const run_id = await start('resumed');
    await runs.result(run_id);
    const all = [];
    for await (const event of runs.watch(run_id)) all.push(event);
    const [, , third] = all;
    const rest = [];
    for await (const event of runs.watch(run_id, { afterId: third?.id ?? '' })) rest.push(event);
    expect(rest).toEqual(all.slice(3));
    const none = [];
    for await (const event of runs.watch(run_id, { afterId: all.at(-1)?.id ?? '' })) none.push(event);
    expect(none).toEqual([]);
  });

  it('answers a question once; a late answer is told so and is no error', async () => {
    const runs = over();
    const run_id = await start('asked', { plan: failing });
    const question_id = await untilAsked(runs, run_id);
    const asked = expect.arrayContaining([expect.objectContaining({ run_id, question_id })]);
    await expect.poll(async () => (await runs.questions()).questions, { timeout: 10_000 }).toEqual(asked);
    const answer = { question_id, decision: 'stop', by: 'ann' } as const;
    expect(await runs.answer(run_id, answer)).toMatchObject({ accepted: true, question_id });
    expect(await runs.result(run_id)).toMatchObject({ outcome: 'finalized' });
    const late = await runs.answer(run_id, answer);
    expect(late).toEqual({ accepted: false, question_id, state: 'ended', reason: 'the run has ended' });
  });

  it('takes feedback and an override, and refuses what cannot be one', async () => {
    const runs = over();
    const run_id = await start('told', { plan: failing });
    const question_id = await untilAsked(runs, run_id);
    const feedback = await runs.feedback(run_id, { text: "no, that's wrong", by: 'ann' });
    expect(feedback).toMatchObject({ feedback_type: 'user_rejection', confidence: expect.any(Number) });
    const override = { override_fatigue: true, override_by: 'ann' };
    expect(await runs.override(run_id, override)).toMatchObject({ status: 'success', overridden_by: 'ann' });
    expect(await runs.overrides(run_id)).toMatchObject([{ override_by: 'ann', outcome: 'pending' }]);
    const wrong = runs.answer(run_id, { question_id, decision: 'maybe' as 'stop', by: 'ann' });
    const refused = await wrong.catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(MessageRefusedError);
    expect(refused).toMatchObject({ code: 'message_refused', problem: 'bad_body', errors: [{ path: '$.decision' }] });
    await runs.answer(run_id, { question_id, decision: 'stop', by: 'ann' });
  });

  it('cancels, and answers once the work has stopped', async () => {
    const runs = over();
    const run_id = await start('cancelled', { agent: 'endless', plan: endlessPlan() });
    for await (const event of runs.watch(run_id)) if (event.event === 'step_started') break;
    const stopped = await runs.cancel(run_id, { by: 'ann', reason: 'enough' });
    expect(stopped).toMatchObject({ state: 'ended', status: { run_id, outcome: 'cancelled' } });
    await expect(runs.cancel(run_id, { by: 'ann' })).rejects.toBeInstanceOf(RunEndedError);
  });

  it('says what a cancel still waits for when the work does not stop in time', async () => {
    const runs = over();
    const run_id = await start('stubborn', { agent: 'endless', plan: endlessPlan(2_000) });
    for await (const event of runs.watch(run_id)) if (event.event === 'step_started') break;
    const stopping = await runs.cancel(run_id, { by: 'ann' }, { waitMs: 200 });
    expect(stopping).toEqual({ state: 'stopping', waiting_for: ['step 1: endless, attempt 1'] });
    expect(await runs.result(run_id)).toMatchObject({ outcome: 'cancelled' });
  });

  it('runs the same again, once for each key', async () => {
    const runs = over();
    const run_id = await start('again');
    await runs.result(run_id);
    const idempotencyKey = world.newRunId('key');
    const first = await runs.rerun(run_id, { by: 'ann' }, { idempotencyKey });
    const second = await runs.rerun(run_id, { by: 'ann' }, { idempotencyKey });
    expect(second.run_id).toBe(first.run_id);
    expect(first.run_id).not.toBe(run_id);
    expect(await runs.result(first.run_id)).toMatchObject({ outcome: 'completed' });
  });

  it('tells every mistake by its class, with a cause and a next step', async () => {
    const runs = over();
    const run_id = await start('mistakes');
    const taken = () => runs.start({ agent: 'demo', goal: 'taken', run_id });
    const mistakes: [() => Promise<unknown>, new (...args: never[]) => SecondwindError, string][] = [
      [taken, RunExistsError, 'run_exists'],
      [() => runs.get('nobody'), RunNotFoundError, 'run_not_found'],
      [() => runs.result('nobody'), RunNotFoundError, 'run_not_found'],
      [() => runs.failures('nobody'), RunNotFoundError, 'run_not_found'],
      [() => runs.cancel('nobody', { by: 'ann' }), RunNotFoundError, 'run_not_found'],
      [() => runs.guidance(run_id, { stepId: 7 }), SecondwindError, 'no_guidance'],
    ];
    for (const [call, type, code] of mistakes) {
      const error = await call().then(
        () => null,
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(type);
      expect(error).toMatchObject({ code, nextStep: expect.stringMatching(/\w/) });
    }
    await expect(taken()).rejects.toHaveProperty('cause', expect.anything());
    const family = runs.start({ agent: 'demo', goal: 'x', loop_id: `loop_${run_id}` });
    await expect(family).rejects.toBeInstanceOf(FamilyTakenError);
    const idempotencyKey = world.newRunId('key');
    await runs.start({ agent: 'demo', goal: 'one' }, { idempotencyKey });
    const conflict = runs.start({ agent: 'demo', goal: 'other' }, { idempotencyKey });
    await expect(conflict).rejects.toBeInstanceOf(IdempotencyConflictError);
    const bad = await runs.start({ agent: 'demmo', goal: 'x' }).catch((error: unknown) => error);
    expect(bad).toBeInstanceOf(RunRequestError);
    expect(bad).toMatchObject({ problems: [{ path: '$.agent', message: expect.stringContaining('demo') }] });
  });

  it('stops waiting when it is told to: a call with the reason, a watch without an error', async () => {
    const runs = over();
    const run_id = await start('given-up', { agent: 'endless', plan: endlessPlan() });
    const giving = new AbortController();
    const gaveUp = runs.result(run_id, { signal: giving.signal }).catch((error: unknown) => error);
    const seen: string[] = [];
    for await (const event of runs.watch(run_id, { signal: giving.signal })) {
      seen.push(event.event);
      if (event.event === 'step_started') giving.abort(new Error('enough'));
    }
    expect(seen).toContain('step_started');
    expect(await gaveUp).toEqual(new Error('enough'));
    await expect(runs.get(run_id, { signal: giving.signal })).rejects.toThrow('enough');
    await runs.cancel(run_id, { by: 'ann' });
  });
});

describe.each(clients)('the guards over %s', (_way, open) => {
  it('decide about a loop elsewhere, repeat what they decided, and tell how it stands', async () => {
    const { guards } = open();
    const loop_id = newFamily(world, 'guards');
    const first = await guards.completeLoop(report(loop_id, LOW));
    expect(first.decision_result).toMatchObject({ decision: 'rerun', new_loop_id: `${loop_id}_r1` });
    expect(await guards.completeLoop(report(loop_id, LOW))).toEqual(first);
    expect(await guards.status(loop_id)).toMatchObject({ loop_id, rerun_count: 1 });
    const override = { override_fatigue: true, override_by: 'ann' };
    const idempotencyKey = loop_id;
    const sent = [1, 2].map(() => guards.override(loop_id, override, { idempotencyKey }));
    expect((await Promise.all(sent)).map((answer) => answer.status)).toEqual(['success', 'success']);
  });

  it('answer for a loop of an own run with the decision of the run', async () => {
    const { guards, runs } = open();
    const run_id = world.newRunId('own-loop');
    await runs.start({ agent: 'judged', goal: 'own', run_id });
    const answer = await guards.completeLoop({ loop_id: `loop_${run_id}`, reflection_status: 'done' });
    expect(answer.decision_result).toMatchObject({ decision: 'rerun', original_loop_id: `loop_${run_id}` });
    await runs.result(run_id);
  });

  it('tell every refusal by its problem, in the same words', async () => {
    const { guards } = open();
    const loop_id = newFamily(world, 'refused');
    await guards.completeLoop(report(loop_id, LOW));
    const flagless = { override_by: 'ann' };
    const refusals: [() => Promise<unknown>, string][] = [
      [() => guards.completeLoop(report(loop_id, GOOD)), 'other_body'],
      [() => guards.completeLoop(report(`${loop_id}_r5`)), 'out_of_order'],
      [() => guards.completeLoop({ loop_id, reflection_status: 'failed' }), 'invalid_report'],
      [() => guards.status('nobody-reported-this'), 'unknown_loop'],
      [() => guards.override(loop_id, flagless), 'invalid_override'],
    ];
    for (const [call, problem] of refusals) {
      const error = await call().catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(GuardRefusedError);
      expect(error).toMatchObject({ code: problem, problem, nextStep: expect.stringMatching(/\w/) });
      expect((error as Error).message).not.toContain((error as GuardRefusedError).nextStep);
    }
  });
});

describe('both ways', () => {
  it('say the same of the same run', async () => {
    const [http, temporal] = ways.map(([, over]) => over());
    if (!http || !temporal) throw new Error('There are two ways.');
    const { run_id } = await http.start({ agent: 'judged', goal: 'compared', run_id: world.newRunId('compared') });
    const collect = async (runs: Runs) => {
      const end = await runs.result(run_id);
      const events = [];
      for await (const event of runs.watch(run_id)) events.push(event);
      return { end: { ...end, ended_at: '' }, events, status: await runs.get(run_id), steps: await runs.steps(run_id) };
    };
    expect(await collect(http)).toEqual(await collect(temporal));
  });
});

describe('the client over HTTP', () => {
  it('misses nothing and sees nothing twice when its connection breaks', { timeout: 60_000 }, async () => {
    const proxy = await breakingProxy(new URL(served.url).port);
    const runs = overHttp(proxy.url);
    const run_id = world.newRunId('broken');
    const plan = {
      steps: Array.from({ length: 4 }, () => ({ phase: 'work', tool: 'demo.flaky', input: { fail_times: 1 } })),
    };
    await overHttp().start({ agent: 'demo', goal: 'broken', run_id, policy: { retry: { base_ms: 200 } }, plan });
    const ids: string[] = [];
    for await (const event of runs.watch(run_id)) {
      ids.push(event.id);
      if (event.event === 'failure_recorded') proxy.breakAll();
    }
    const all: string[] = [];
    for await (const event of overHttp().watch(run_id)) all.push(event.id);
    expect(proxy.broken()).toBeGreaterThan(1);
    expect(ids).toEqual(all);
  });

  it('tells who cannot be reached: nobody there, and somebody else there', { timeout: 60_000 }, async () => {
    const other = createServer((_request, response) => void response.end('<html>hello</html>'));
    const url = await listening(other);
    for (const runs of [overHttp(url), overHttp('http://127.0.0.1:1')]) {
      const error = await runs.get('any').catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(NotReachableError);
      expect(error).toMatchObject({ code: 'not_reachable', nextStep: expect.stringContaining('secondwind dev') });
    }
    const watching = overHttp('http://127.0.0.1:1').watch('any')[Symbol.asyncIterator]();
    await expect(watching.next()).rejects.toBeInstanceOf(NotReachableError);
  });

  it('gives up a call that nobody answers, and follows no redirect with its token', async () => {
    const asked: string[] = [];
    const elsewhere = createServer((request, response) => {
      asked.push(request.headers.authorization ?? 'none');
      response.end('{}');
    });
    const target = await listening(elsewhere);
    const server = createServer((request, response) => {
      if (request.url?.includes('silent')) return;
      response.writeHead(302, { location: `${target}/v1/runs/x` }).end();
    });
    const url = await listening(server);
    const { runs } = createClient({ url, token: 'secret', timeoutMs: 200 });
    await expect(runs.get('silent')).rejects.toMatchObject({ code: 'not_reachable' });
    await expect(runs.get('redirected')).rejects.toMatchObject({ code: 'not_reachable' });
    expect(asked).toEqual([]);
  });

  it('says what a weaker or an unknown token may not do', async () => {
    const viewer = createClient({ url: served.url, token: tokenOf('viewer') }).runs;
    await expect(viewer.start({ agent: 'demo', goal: 'x' })).rejects.toMatchObject({ code: 'weaker_role' });
    const nobody = createClient({ url: served.url, token: 'unknown-token' }).runs;
    await expect(nobody.list()).rejects.toMatchObject({ code: 'no_token', nextStep: expect.stringContaining('dev') });
    for (const url of ['ftp://127.0.0.1', 'not a url', 'http://me:pw@127.0.0.1']) {
      expect(() => createClient({ url, token: 'x' })).toThrow(SecondwindError);
    }
  });
});

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Passes bytes on until it is told to cut every line. */
async function breakingProxy(port: string) {
  const lines = new Set<Socket>();
  let cut = 0;
  const proxy = createTcpServer((near) => {
    const far = connect(Number(port), '127.0.0.1');
    for (const socket of [near, far]) {
      lines.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => lines.delete(socket));
    }
    near.pipe(far);
    far.pipe(near);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const breakAll = (): void => {
    cut += 1;
    for (const line of lines) line.destroy();
  };
  onTestFinished(() => {
    breakAll();
    proxy.close();
  });
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, breakAll, broken: () => cut };
}
