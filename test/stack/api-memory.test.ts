/** Failures seen elsewhere, lessons, feedback, artifacts and figures over HTTP. Needs the store, and Temporal to tell own runs. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { boundSentence } from '../../src/core/bound/sentence.ts';
import { computeBound } from '../../src/core/bound/compute-bound.ts';
import { DEFAULT_POLICY } from '../../src/protocol/policy.ts';
import type { FailureRecord } from '../../src/protocol/schemas/failure-record.ts';
import { createGuard } from '../../src/guard.ts';
import { serveApi } from '../../src/api/serve.ts';
import { apiAgents } from '../support/api-agents.ts';
import { type ApiWorld, openApiWorld, tokenOf } from '../support/api-world.ts';

let world: ApiWorld;
beforeAll(async () => {
  world = await openApiWorld(apiAgents);
  await world.startWorker();
});
afterAll(() => world.close());

const problem = (name: string): object => ({ type: `urn:secondwind:problem:${name}` });

interface Taken {
  failure_id: string;
  fingerprint: string;
  occurrence_count: number;
  seen_before: boolean;
  guidance: { fingerprint: string; text: string }[];
  escalation: string | null;
}

describe('a failure that was seen elsewhere', () => {
  const reportOf = (runId: string, more: object = {}) => ({
    run_id: runId,
    step_id: 3,
    signal_type: 'tool_error',
    tool_name: 'search',
    error_code: 'HTTP_503',
    message: 'upstream said no at 12:03:44 (request 8f14e45f-ceea-467f-a8e9-0a7c6f1b2a11)',
    ...more,
  });
  const post = <T = Taken>(body: unknown, headers: Record<string, string> = {}) =>
    world.ask<T>('POST', '/v1/failures', { role: 'reporter', body, headers });

  it('a reported failure is counted each time, returns guidance, and escalates from the third time on', async () => {
    const runId = world.newRunId('elsewhere');
    const taken = [];
    for (const time of ['12:03:44', '12:04:59', '13:00:01']) {
      taken.push((await post(reportOf(runId, { message: `upstream said no at ${time}` }))).body);
    }
    expect(taken.map((one) => one.occurrence_count)).toEqual([1, 2, 3]);
    expect(taken.map((one) => one.seen_before)).toEqual([false, true, true]);
    expect(taken.map((one) => one.escalation)).toEqual([null, null, 'ask_human']);
    expect(new Set(taken.map((one) => one.fingerprint)).size).toBe(1);
    expect(taken[0]?.guidance).toMatchObject([{ fingerprint: taken[0]?.fingerprint, text: expect.any(String) }]);
    const { body } = await world.ask<{ failures: FailureRecord[] }>('GET', `/v1/runs/${runId}/failures`);
    expect(body.failures).toHaveLength(3);
    expect(body.failures[2]).toMatchObject({
      phase: 'unknown',
      severity: 'medium',
      occurrence_count: 3,
      attempted_action: { tool_name: 'search', action_id: `${runId}:s3` },
    });
  });

  it('a reported failure counts once per key, always gets the same answer, and its key is refused for another report', async () => {
    const runId = world.newRunId('keyed');
    const headers = { 'idempotency-key': runId };
    const first = await post(reportOf(runId), headers);
    await post(reportOf(runId));
    expect(await post(reportOf(runId), headers)).toMatchObject({ status: 201, body: first.body });
    expect(await post(reportOf(runId, { step_id: 4 }), headers)).toMatchObject({
      status: 422,
      body: problem('idempotency_conflict'),
    });
    const other = await world.ask<Taken>('POST', '/v1/failures', { body: reportOf(runId), headers });
    expect(other.body.failure_id).not.toBe(first.body.failure_id);
  });

  it('a reported failure refers to its report, and only to artifacts that exist', async () => {
    const runId = world.newRunId('pointing');
    const { body: taken } = await post(reportOf(runId, { message: 'token=ghp_abcdefghijklmnopqrstuvwxyz012345' }));
    const record = await world.store.records.get(taken.failure_id);
    const artifact = await world.store.artifacts.get(record?.context_refs.manifest_id ?? '');
    const text = Buffer.from(artifact?.bytes ?? []).toString();
    expect(JSON.parse(text)).toMatchObject({ failure_id: taken.failure_id, report: { tool_name: 'search' } });
    expect(text + JSON.stringify(record)).not.toContain('ghp_');
    const dangling = await post(reportOf(runId, { context_refs: { artifact_ids: ['0'.repeat(64)] } }));
    expect(dangling).toMatchObject({ status: 422, body: { errors: [{ path: '$.context_refs' }] } });
    const known = record?.context_refs.manifest_id;
    expect((await post(reportOf(runId, { context_refs: { manifest_id: known } }))).status).toBe(201);
  });

  it('a reported failure of a Secondwind run is refused, because the run records its own failures', async () => {
    const run_id = world.newRunId('own');
    await world.runs.start({ agent: 'demo', goal: 'x', run_id });
    expect(await post(reportOf(run_id))).toMatchObject({ status: 409, body: problem('own_run') });
    expect(await world.store.records.list({ run_id })).toMatchObject({ items: [] });
  });

  it('a reported failure was seen before, also in another run and in other words; an unrelated one was not', async () => {
    const message = (n: number) => `turnstile ${n} of stadium gate rejects wristband ${world.newRunId('band')}`;
    const reports = [];
    for (const n of [1, 2]) reports.push(await post(reportOf(world.newRunId('gate'), { message: message(n) })));
    expect(reports.map(({ body }) => body.seen_before)).toEqual([false, true]);
    const seen = async (content: string) =>
      (await world.ask('GET', `/v1/reflections/seen?${new URLSearchParams({ content }).toString()}`)).body;
    // Numbers make another fingerprint; the failure is the same.
    expect(await seen(message(2))).toMatchObject({ seen: true, failure: { run_count: 1 } });
    expect(await seen('wristband 9 rejected: stadium gate turnstile')).toMatchObject({ seen: true });
    expect(await seen('ticket printer of the stadium is out of paper')).toEqual({ seen: false, occurrence_count: 0 });
    const exact = 'floodlight relay is welded shut';
    for (const n of [1, 2]) await post(reportOf(world.newRunId(`light${n}`), { message: exact }));
    expect(await seen(exact)).toMatchObject({
      seen: true,
      occurrence_count: 2,
      failure: { reason: 'same_message', occurrence_count: 2, run_count: 2 },
    });
    // Another tenant has not seen it.
    const other = new URLSearchParams({ content: exact, tenant: 'elsewhere' }).toString();
    expect((await world.ask('GET', `/v1/reflections/seen?${other}`)).body).toMatchObject({ seen: false });
    const list = async (query: string) =>
      (await world.ask<{ known_failures: object[] }>('GET', `/v1/known-failures?${query}`)).body.known_failures;
    expect(await list('q=floodl+relay')).toMatchObject([{ occurrence_count: 2, message_preview: exact }]);
    expect(await list('q=floodl+relay&tenant=elsewhere')).toEqual([]);
    expect(await list('q=floodl+relay&tool=another')).toEqual([]);
  });

  it('a failure that a tenant reports is guidance for that tenant only', async () => {
    const run_id = world.newRunId('shared-name');
    const report = (tenant: string) => post(reportOf(run_id, { tenant }));
    expect((await report('acme')).body).toMatchObject({ occurrence_count: 1, seen_before: false });
    expect((await report('bolt')).body).toMatchObject({ occurrence_count: 1, seen_before: false });
    expect((await report('acme')).body).toMatchObject({ occurrence_count: 2, seen_before: true });
  });

  it('a reported failure counts as seen before if there is a lesson about it', async () => {
    const content = `the ledger of ${world.newRunId('lesson')} cannot be balanced without its journal`;
    const lesson = { error_type: 'tool_error', content, context: 'c', query: 'q', iteration: 1, quality_delta: 0.2 };
    await world.ask('POST', '/v1/reflections', { body: { ...lesson, changed_behavior: true } });
    const { body } = await post(reportOf(world.newRunId('learnt'), { message: content }));
    expect(body).toMatchObject({ seen_before: true, occurrence_count: 1 });
  });

  it.each([
    ['no step', { step_id: undefined }],
    ['a signal that is none', { signal_type: 'panic' }],
    ['a key that nobody knows', { adjustment: { type: 'deny' } }],
    ['its own fingerprint', { fingerprint: 'fp1:x' }],
    ['a run id that is none', { run_id: 'a/b' }],
  ])('a report with %s is refused with 422', async (_what, wrong) => {
    expect((await post(reportOf(world.newRunId('wrong'), wrong))).status).toBe(422);
  });

  it('a person can supersede a failure; it becomes active when it occurs again, and nobody can resolve it', async () => {
    const runId = world.newRunId('aside');
    const { body: taken } = await post(reportOf(runId));
    const path = `/v1/failures/${taken.failure_id}/revisions`;
    const aside = await world.ask('POST', path, { body: { status: 'superseded', by: 'ann', reason: 'moved' } });
    expect(aside).toMatchObject({ status: 201, body: { status: 'superseded', occurrence_count: 1 } });
    const views = async () =>
      (await world.ask<{ failures: { status: string }[] }>('GET', `/v1/runs/${runId}/failures`)).body.failures;
    expect((await views()).map((failure) => failure.status)).toEqual(['superseded']);
    expect(
      (await post(reportOf(runId, { tool_name: 'other' }))).body.guidance.map((row) => row.fingerprint),
    ).not.toContain(taken.fingerprint);
    await post(reportOf(runId));
    expect((await views()).map((failure) => failure.status)).toEqual(['active', 'active', 'active']);
    const resolved = { status: 'resolved', by: 'ann', reason: 'I think so' };
    expect((await world.ask('POST', path, { body: resolved })).status).toBe(422);
    const unknown = { body: { status: 'superseded', by: 'ann', reason: 'x' } };
    expect((await world.ask('POST', '/v1/failures/nobody-saw-this/revisions', unknown)).status).toBe(404);
  });

  it('failures are counted over runs and days', async () => {
    const taken = await post(reportOf(world.newRunId('counted'), { error_code: 'E_COUNTED' }));
    await post(reportOf(world.newRunId('counted'), { error_code: 'E_COUNTED' }));
    const { body } = await world.ask<{ fingerprints: { fingerprint: string }[] }>('GET', '/v1/fingerprints?limit=200');
    const today = new Date().toISOString().slice(0, 10);
    expect(body.fingerprints.filter((row) => row.fingerprint === taken.body.fingerprint)).toEqual([
      { day: today, fingerprint: taken.body.fingerprint, occurrence_count: 2, run_count: 2 },
    ]);
    const later = await world.ask('GET', '/v1/fingerprints?since=2999-01-01');
    expect(later.body).toEqual({ fingerprints: [] });
    expect((await world.ask('GET', '/v1/fingerprints?since=yesterday')).status).toBe(422);
  });
});

describe('an artifact', () => {
  const put = (text: string | Uint8Array, type = 'text/html'): Promise<string> =>
    world.store.artifacts.put(typeof text === 'string' ? Buffer.from(text) : text, type);

  it('an artifact is sent as its exact bytes, and never as something that a browser would run', async () => {
    const bytes = new Uint8Array([0, 255, 10, 13, 60, 115]);
    const answer = await world.fetch(`/v1/artifacts/${await put(bytes)}`);
    expect(new Uint8Array(await answer.arrayBuffer())).toEqual(bytes);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': expect.stringMatching(/^attachment; filename="[0-9a-f]{64}"$/),
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining('sandbox'),
      'cache-control': 'no-store',
    });
    const json = await world.fetch(`/v1/artifacts/${await put('{}', 'application/json')}`);
    expect(json.headers.get('content-type')).toBe('application/json');
  });

  it('a preview of an artifact is a short text without control characters', async () => {
    const escape = '\u001b';
    const id = await put(`${escape}[31mred${escape}[0m\u0000\u202e ${tokenOf('viewer')} ${'x'.repeat(40_000)}`);
    const answer = await world.fetch(`/v1/artifacts/${id}?preview=1`);
    const text = await answer.text();
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(text).toMatch(/^red \[redacted:known\] x+\n… \d+ bytes in all$/);
    expect(text.length).toBeLessThan(17_000);
  });

  it.each(['0'.repeat(64), 'nonsense', '..%2F..%2Fetc'])('an unknown artifact is 404: %s', async (id) => {
    expect(await world.ask('GET', `/v1/artifacts/${id}`)).toMatchObject({ status: 404 });
  });
});

describe('feedback', () => {
  it('feedback is detected, with what the next prompt should say', async () => {
    const text = 'FAIL src/a.test.ts > adds\nAssertionError: expected 3 to equal 4';
    const { body } = await world.ask('POST', '/v1/feedback/detect', { role: 'viewer', body: { text } });
    expect(body).toMatchObject({
      feedback_type: 'verification_failure',
      matches: expect.arrayContaining([expect.objectContaining({ feedback_type: 'verification_failure' })]),
      actions: expect.arrayContaining([expect.objectContaining({ type: 'request_validation' })]),
    });
    const nothing = await world.ask('POST', '/v1/feedback/detect', { body: { text: 'all tests passed' } });
    expect(nothing.body).toEqual({ feedback_type: null, confidence: 0, matches: [], actions: [] });
    expect((await world.ask('POST', '/v1/feedback/detect', { body: { text: 7 } })).status).toBe(422);
  });

  it('feedback refines a prompt, and every iteration is in the log, page by page', async () => {
    const feedback = "TypeError: Cannot read properties of undefined (reading 'id')";
    const body = { prompt: 'Write the parser', feedback };
    const refined = await world.ask<{ refined_prompt: string; score: number; iterations: object[] }>(
      'POST',
      '/v1/prompts/refine',
      { role: 'viewer', body },
    );
    expect(refined.body.refined_prompt).toContain('Write the parser');
    expect(refined.body.refined_prompt).toContain('Cannot read properties');
    expect(refined.body.iterations.length).toBeGreaterThan(0);
    interface LogPage {
      log: { feedback_type: string; feedback_signal: string }[];
      next_cursor?: string;
    }
    const seen: LogPage['log'] = [];
    let cursor: string | undefined;
    do {
      const more = cursor === undefined ? '' : `&cursor=${cursor}`;
      const page = await world.ask<LogPage>('GET', `/v1/feedback/log?feedback_type=runtime_error&limit=1${more}`);
      seen.push(...page.body.log);
      cursor = page.body.next_cursor;
    } while (cursor !== undefined);
    expect(seen).toHaveLength(refined.body.iterations.length);
    expect(seen[0]).toMatchObject({ feedback_signal: feedback, run_id: null });
    const untouched = await world.ask('POST', '/v1/prompts/refine', { body: { prompt: 'p', feedback: 'thanks' } });
    expect(untouched.body).toMatchObject({ refined_prompt: 'p', iterations: [] });
    expect((await world.ask('GET', '/v1/feedback/log?cursor=nonsense')).status).toBe(422);
  });
});

describe('a lesson', () => {
  const lesson = (content: string, more: object = {}) => ({
    error_type: 'conflict',
    content,
    context: 'two sources disagreed',
    query: 'when was it built',
    iteration: 2,
    quality_delta: 0.25,
    changed_behavior: true,
    agent: 'historian',
    ...more,
  });
  const post = (body: object, role: 'reporter' | 'operator' = 'reporter') =>
    world.ask('POST', '/v1/reflections', { role, body });

  it('a lesson is stored once, counted when it comes again, and left out if it changed nothing', async () => {
    const content = 'The date of the bridge on the plaque is wrong; the archive of the town has the right one.';
    const first = await post(lesson(content));
    expect(first.body).toMatchObject({
      id: expect.any(Number),
      stored: true,
      deduplicated: false,
      occurrence_count: 1,
    });
    const again = await post(lesson(`  ${content.toUpperCase()} `));
    const { id, error_signature } = first.body;
    expect(again.body).toEqual({
      id,
      stored: false,
      deduplicated: true,
      duplicate_of: id,
      occurrence_count: 2,
      error_signature,
    });
    const near = await post(lesson(`${content} Yes.`));
    expect(near.body).toMatchObject({ duplicate_of: id, occurrence_count: 3 });
    for (const more of [{ changed_behavior: false }, { scope: 'run' }]) {
      const none = await post(lesson('Another lesson altogether, of no use to anybody.', more));
      expect(none.body).toMatchObject({ id: null, stored: false, deduplicated: false, occurrence_count: 0 });
    }
    expect((await post(lesson('x', { agent: undefined, scope: 'agent' }))).status).toBe(422);
  });

  it('a lesson is found by its signature, by similarity and among the latest, for its own agent', async () => {
    const content = 'A museum is closed on Mondays unless its own page says otherwise.';
    const { body } = await post(lesson(content, { error_type: 'unverified_claim' }));
    const find = async (query: Record<string, string>, agent = 'historian') => {
      const params = new URLSearchParams({ agent, ...query }).toString();
      return (await world.ask<{ reflections: object[] }>('GET', `/v1/reflections?${params}`)).body.reflections;
    };
    const signature = String(body['error_signature']);
    expect(await find({ signature })).toMatchObject([
      {
        id: body['id'],
        category: 'reflection',
        content,
        rationale: 'Self-correction during: two sources disagreed',
        tags: ['reflection', 'self-correction', 'unverified_claim', `sig:${signature}`],
        score: 1,
        reason: 'same_signature',
      },
    ]);
    const similar = await find({ similar_to: `${content}!`, error_type: 'unverified_claim' });
    expect(similar).toMatchObject([{ id: body['id'], reason: 'same_message' }]);
    expect((await find({ error_type: 'unverified_claim', limit: '1' }))[0]).toMatchObject({ reason: 'recent' });
    expect(await find({ signature }, 'somebody-else')).toEqual([]);
    // Without an agent a search is nobody's; the plain list is for whoever looks after all lessons, and says whose each is.
    const latest = async (query: string) =>
      (await world.ask<{ reflections: object[] }>('GET', `/v1/reflections${query}`)).body.reflections;
    expect(await latest(`?signature=${signature}`)).toEqual([]);
    expect((await latest('?error_type=unverified_claim'))[0]).toMatchObject({ id: body['id'], agent: 'historian' });
    const { body: forAll } = await post(lesson('A lesson for everybody there is.', { agent: undefined }), 'operator');
    expect(await latest('?limit=2')).toMatchObject([{ id: forAll['id'], agent: null }, { id: body['id'] }]);
    const seen = async (query: Record<string, string>) =>
      (await world.ask('GET', `/v1/reflections/seen?${new URLSearchParams(query).toString()}`)).body;
    expect(await seen({ signature, agent: 'historian' })).toEqual({
      seen: true,
      occurrence_count: 1,
      lesson: { id: body['id'], reason: 'same_signature' },
    });
    expect(await seen({ error_type: 'unverified_claim', content: `${content}?`, agent: 'historian' })).toMatchObject({
      seen: true,
    });
    expect(await seen({ signature: '0'.repeat(16) })).toEqual({ seen: false, occurrence_count: 0 });
    expect((await world.ask('GET', '/v1/reflections/seen?agent=historian')).status).toBe(422);
  });

  it('a lesson is found by the error that it is about, in other words too, by its beginning, and by tool and code', async () => {
    const { body } = await post(
      lesson('Ask for half of the pallets and then for the rest.', {
        agent: 'loader',
        error_text: 'pallet lift 7 refuses 1200 kg beyond rated load at dock /srv/docks/north.json',
        tool_name: 'lift.raise',
        error_code: 'OVERLOAD',
      }),
    );
    const find = async (query: Record<string, string>) =>
      (
        await world.ask<{ reflections: { id: number }[] }>(
          'GET',
          `/v1/reflections?${new URLSearchParams(query).toString()}`,
        )
      ).body.reflections.map(({ id }) => id);
    const reworded = 'beyond rated load: pallet lift 3 at dock /home/x/south.json refuses 900 kg';
    const queries: Record<string, string>[] = [
      { similar_to: reworded, agent: 'loader' },
      { q: 'Ask for half of the pal' },
      { q: 'rated load' },
      { q: 'lift.raise' },
      { tool: 'lift.raise' },
      { code: 'OVERLOAD' },
    ];
    for (const query of queries) expect([query, await find(query)]).toEqual([query, [body['id']]]);
    expect(await find({ similar_to: 'lift of the sales embargo refused by the board', agent: 'loader' })).toEqual([]);
    expect(await find({ fingerprint: 'fp1:of-no-lesson' })).toEqual([]);
    const { body: evidence } = await world.ask<{ errors: object[] }>('GET', `/v1/reflections/${String(body['id'])}`);
    expect(evidence.errors).toMatchObject([{ tool_name: 'lift.raise', error_code: 'OVERLOAD' }]);
  });

  it('a lesson can be edited, pinned and retired by a person, and is then no longer recalled', async () => {
    const { body } = await post(
      lesson('Ask the porter before the library: it is nearer.', { agent: 'reviser', error_type: 'house_rule' }),
    );
    const path = `/v1/reflections/${String(body['id'])}/revisions`;
    const revise = (change: object) => world.ask('POST', path, { body: { by: 'ann', ...change } });
    const current = async () =>
      (
        await world.ask<{ reflections: { content: string }[] }>(
          'GET',
          '/v1/reflections?agent=reviser&error_type=house_rule',
        )
      ).body.reflections;
    expect(await revise({ action: 'edit', content: 'Ask the library.' })).toMatchObject({
      status: 201,
      body: { reflection_id: body['id'], action: 'edit', by: 'ann', content: 'Ask the library.' },
    });
    expect((await current())[0]?.content).toBe('Ask the library.');
    expect((await revise({ action: 'pin' })).status).toBe(201);
    expect((await revise({ action: 'retire', reason: 'wrong' })).status).toBe(201);
    expect(await current()).toEqual([]);
    expect((await revise({ action: 'edit' })).status).toBe(422);
    expect((await revise({ action: 'pin', content: 'x' })).status).toBe(422);
    for (const id of ['999999999', '0', 'x']) {
      const unknown = await world.ask('POST', `/v1/reflections/${id}/revisions`, {
        body: { action: 'pin', by: 'ann' },
      });
      expect([id, unknown.status]).toEqual([id, 404]);
    }
  });
});

describe('the server', () => {
  it('the API shows every default of a policy, and the limit of a run', async () => {
    expect((await world.ask('GET', '/v1/policy', { role: 'viewer' })).body).toEqual(DEFAULT_POLICY);
    const { body } = await world.ask('POST', '/v1/bound', { role: 'viewer', body: {} });
    const bound = computeBound({ policy: DEFAULT_POLICY, planLength: null });
    expect(body).toEqual({ ...bound, sentence: boundSentence(bound) });
    const demo = await world.ask('POST', '/v1/bound', {
      body: { agent: 'demo', policy: { reruns: { max_reruns: 0 } } },
    });
    expect(demo.body).toMatchObject({ loops: 4, steps: 4 });
    const wrong = { agent: 'dmo', policy: { retries: {} } };
    expect((await world.ask('POST', '/v1/bound', { body: wrong })).status).toBe(422);
    expect(await world.ask('POST', '/v1/bound', { body: { agent: 'dmo' } })).toMatchObject({
      status: 422,
      body: { errors: [{ path: '$.agent', message: expect.stringContaining('did you mean demo') }] },
    });
  });

  it('the API lists its agents with their tools', async () => {
    const { body } = await world.ask<{ agents: { name: string }[] }>('GET', '/v1/agents');
    expect(body.agents.map((agent) => agent.name)).toEqual(['demo', 'endless', 'judged']);
    expect(body.agents[0]).toMatchObject({
      planner: 'given',
      reviewer: 'rules',
      tools: [{ name: 'demo.flaky', effect: 'read', input_schema: { required: ['fail_times'] } }],
    });
  });

  it('the API shows how well retries work, by day, and what the rules decide', async () => {
    const agent = world.newRunId('monitored');
    const attempt = (ok: boolean) => ({
      ok,
      category: ok ? null : ('validation_grounding' as const),
      wait_ms: 0,
      duration_ms: 500,
      cost_micro_usd: 100,
      prompt_diff: null,
    });
    const evaluation = (step_id: number, attempts: number, finalOk: boolean) => ({
      run_id: agent,
      step_id,
      agent,
      model: 'm-1',
      subject: `subject ${step_id}`,
      attempts: attempts === 1 ? [attempt(true)] : [attempt(false), attempt(finalOk)],
      created_at: new Date().toISOString(),
    });
    const rows = Array.from({ length: 20 }, (_, index) => evaluation(index, index < 10 ? 1 : 2, index < 16));
    const heldOut = Array.from({ length: 5 }, (_, index) => ({
      ...evaluation(100 + index, 1, true),
      model: 'm-0',
      arm: 'baseline' as const,
    }));
    await world.store.retryMonitors.append([...heldOut, ...rows]);
    const { body } = await world.ask('GET', `/v1/monitors?agent=${agent}`);
    expect(body).toMatchObject({
      monitors: [
        { model: 'm-0', evaluations: 5 },
        {
          agent,
          model: 'm-1',
          evaluations: 20,
          first_attempt_success: 0.5,
          final_success: 0.8,
          recovered: 6,
          recovery: 0.6,
          added_seconds: 5,
          added_cost_micro_usd: 1_000,
        },
      ],
      switches: [{ agent, enhancement: 'off', reason: 'runtime_overhead_exceeded' }],
    });
    const metrics = await (await world.fetch('/metrics')).text();
    expect(metrics).toContain(`secondwind_retry_final_success{agent="${agent}",model="m-1"} 0.8\n`);
    expect(metrics).toContain(`secondwind_enhancement_on{agent="${agent}"} 0\n`);
    const turn = { agent, enhancement: 'on', by: 'ada', reason: 'another model' };
    const on = { switched: true, agent, enhancement: 'on', by: 'ada', note: 'another model', reason: null };
    expect(await world.ask('POST', '/v1/monitors/enhancement', { body: turn })).toMatchObject({
      status: 200,
      body: on,
    });
    expect((await world.ask('POST', '/v1/monitors/enhancement', { body: { ...turn, by: 'bob' } })).body).toMatchObject({
      switched: false,
      by: 'ada',
    });
    expect((await world.ask('GET', `/v1/monitors?agent=${agent}`)).body).toMatchObject({
      switches: [{ agent, enhancement: 'on', by: 'ada', note: 'another model' }],
    });
    const history = await world.store.enhancement.historyOf(agent);
    expect(history.map(({ enhancement, by, note }) => [enhancement, by, note])).toEqual([
      ['off', 'rollback rule', null],
      ['on', 'ada', 'another model'],
    ]);
    expect((await world.ask('GET', '/v1/monitors?agent=nobody')).body).toEqual({
      monitors: [],
      overall: [],
      remaining_failures: [],
      switches: [],
      metrics: { bucket: 'day', overall: [], series: [], lessons: [] },
    });
  });

  it('the API does not switch the enhancement of an unknown agent, or without a name of who does it', async () => {
    const turn = { agent: 'nobody', enhancement: 'off', by: 'ada' };
    expect(await world.ask('POST', '/v1/monitors/enhancement', { body: turn })).toMatchObject({
      status: 422,
      body: { errors: [{ path: '$.agent', message: expect.stringContaining('no agent named nobody') }] },
    });
    const { status, body } = await world.ask('POST', '/v1/monitors/enhancement', {
      body: { ...turn, agent: 'demo', by: ' ' },
    });
    expect([status, body]).toMatchObject([422, { errors: [{ path: 'by' }] }]);
    expect(await world.store.enhancement.historyOf('nobody')).toEqual([]);
  });

  it('the metrics count the open runs for Prometheus', async () => {
    const text = await (await world.fetch('/metrics')).text();
    expect(text).toMatch(/^secondwind_runs_open \d+$/m);
    expect(text).toMatch(/^secondwind_questions_open \d+$/m);
  });
});

describe('a guard that shares the memory of a server', () => {
  it('reports failures and loops, shows what is known, and goes on when the server is gone', async () => {
    const agent = world.newRunId('clerk');
    const content = 'The ledger refuses a month that is closed; open the month first.';
    const error_signature = 'a'.repeat(16);
    await world.store.reflections.persist({
      scope: 'agent',
      agent,
      error_type: 'tool_error',
      error_signature,
      content,
      fingerprint: 'fp1:tool_error:ledger:-:0123456789abcdef',
      rationale: '',
      tags: [],
      tools: ['ledger'],
      context: {
        error_signature,
        original_query: '',
        iteration_count: 1,
        quality_improvement: 1,
        reflection_context: '',
      },
      similarity_threshold: 1,
    });
    const served = await serveApi(world.app, { host: '127.0.0.1', port: 0 });
    const lines: string[] = [];
    const server = { url: served.url, token: tokenOf('reporter'), timeoutMs: 10_000 };
    const guard = createGuard({ agent, server, log: (line) => lines.push(line) });
    const call = { tool: 'ledger', input: { month: 3 } };
    expect(await guard.before(call)).toMatchObject({
      verdict: 'guide',
      text: expect.stringContaining(content) as string,
    });
    expect((await guard.before(call)).verdict).toBe('allow');
    for (const verdict of ['continue', 'continue', 'stop']) {
      expect((await guard.after({ ...call, error: 'HTTP 409 from the bookkeeping host' })).verdict).toBe(verdict);
    }
    const { session } = guard.state();
    const { body } = await world.ask<{ failures: FailureRecord[] }>('GET', `/v1/runs/${session}/failures`);
    expect(body.failures.map(({ signal_type }) => signal_type).sort()).toEqual([
      'loop_stall',
      'tool_error',
      'tool_error',
      'tool_error',
    ]);
    expect(lines).toEqual([]);
    await served.close();
    guard.userMessage();
    for (let n = 0; n < 3; n += 1) await guard.after({ ...call, error: 'HTTP 409 from the bookkeeping host' });
    expect(guard.stopped).toMatchObject({ rule: 'same_call_failing' });
    expect(lines).toEqual([expect.stringContaining('goes on without its memory')]);
  });
});
