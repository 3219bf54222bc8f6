/**
 * The three endpoints for loops, with the names and bodies of the document that they come from: for loops that run
 * elsewhere and for those of own runs. On a real Temporal, store and worker; a process killed in between is in loop-guard-killed.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GuardrailsStatus } from '../../src/core/guardrails/guardrails-status.ts';
import type { LoopAnswer } from '../../src/core/guardrails/loop-answer.ts';
import type { ReviewReport } from '../../src/core/guardrails/loop-report.ts';
import { apiAgents, endlessPlan } from '../support/api-agents.ts';
import { type ApiWorld, type AskOptions, openApiWorld } from '../support/api-world.ts';
import { GOOD, LOW, newFamily, readFamilies, report } from '../support/guard-world.ts';

/** What the reviewer of this server says of a loop that is reported without a review. */
const BY_REVIEWER: ReviewReport = {
  alignment_score: 0.72,
  drift_score: 0.28,
  summary_valid: true,
  reflection_persona: 'SAGE',
};
let reviews = 0;
let world: ApiWorld;
let withoutReviewer: ApiWorld;
beforeAll(async () => {
  const reviewer = () => {
    reviews += 1;
    return Promise.resolve(BY_REVIEWER);
  };
  world = await openApiWorld(apiAgents, { reviewer });
  withoutReviewer = await openApiWorld(apiAgents);
  await world.startWorker();
});
afterAll(async () => {
  await world.close();
  await withoutReviewer.close();
});

const complete = <T = LoopAnswer>(body: unknown, options: AskOptions = {}) =>
  world.ask<T>('POST', '/orchestrator/loop-complete', { role: 'reporter', body, ...options });
const statusOf = async (loopId: string): Promise<GuardrailsStatus> => {
  const path = `/orchestrator/guardrails-status/${loopId}`;
  const { body } = await world.ask<{ guardrails_status: GuardrailsStatus }>('GET', path, { role: 'viewer' });
  return body.guardrails_status;
};
const override = <T = Record<string, unknown>>(loopId: string, body: unknown, options: AskOptions = {}) =>
  world.ask<T>('POST', `/orchestrator/override-guardrails/${loopId}`, { body, ...options });
const problem = (name: string): object => ({ type: `urn:secondwind:problem:${name}` });

/** The names of a value with the types of what they hold, as far as the other has them too. */
function fieldSchemas(value: unknown, like: unknown): unknown {
  if (typeof like !== 'object' || like === null || Array.isArray(like))
    return Array.isArray(value) ? 'list' : typeof value;
  const fields = (value ?? {}) as Record<string, unknown>;
  return Object.fromEntries(Object.entries(like).map(([name, inner]) => [name, fieldSchemas(fields[name], inner)]));
}

describe('the example of the document', () => {
  it('POST /orchestrator/loop-complete answers like the example of the document', async () => {
    const request = `{
  "loop_id": "loop_001",
  "reflection_status": "done",
  "orchestrator_persona": "SAGE",
  "override_fatigue": false,
  "override_max_reruns": false,
  "override_by": null
}`;
    const response = {
      status: 'success',
      loop_id: 'loop_001',
      reflection_result: {
        alignment_score: 0.72,
        drift_score: 0.28,
        summary_valid: true,
        reflection_persona: 'SAGE',
        bias_echo: false,
        reflection_fatigue: 0.15,
      },
      decision_result: {
        decision: 'rerun',
        original_loop_id: 'loop_001',
        new_loop_id: 'loop_001_r1',
        rerun_reason: 'alignment_threshold_not_met',
        rerun_number: 1,
        rerun_count: 1,
        max_reruns: 3,
      },
      orchestrator_persona: 'SAGE',
      timestamp: '2025-04-21T19:45:00.000Z',
    };
    const { status, body } = await complete(request);
    expect(status).toBe(200);
    expect(fieldSchemas(body, response)).toEqual(fieldSchemas(response, response));
    // By the document's own code a first loop has no fatigue; its example shows the second's.
    const { reflection_fatigue: _example, ...reflection_result } = response.reflection_result;
    const { timestamp: _then, ...rest } = response;
    expect(body).toMatchObject({ ...rest, reflection_result });
    expect(body.reflection_result.reflection_fatigue).toBe(0);
    expect(new Date(body.timestamp).toISOString()).toBe(body.timestamp);
  });

  it('GET /orchestrator/guardrails-status/{loop_id} answers like the example of the document', async () => {
    const example = {
      loop_id: 'loop_001',
      rerun_count: 1,
      max_reruns: 3,
      rerun_limit_reached: false,
      bias_echo: false,
      reflection_fatigue: 0.15,
      fatigue_threshold_exceeded: false,
      force_finalize: false,
      rerun_reason: 'alignment_threshold_not_met',
      rerun_trigger: ['alignment', 'drift'],
      alignment_score: 0.72,
      drift_score: 0.28,
      summary_valid: true,
      reflection_persona: 'SAGE',
    };
    const { body } = await world.ask('GET', '/orchestrator/guardrails-status/loop_001', { role: 'viewer' });
    const response = { status: 'success', guardrails_status: example };
    expect(fieldSchemas(body, response)).toEqual(fieldSchemas(response, response));
    expect(body).toMatchObject({ guardrails_status: { ...example, reflection_fatigue: 0, finalize_reason: null } });
    expect(await statusOf('loop_001_r1')).toMatchObject({ alignment_score: null, rerun_trigger: [], rerun_count: 1 });
  });

  it('POST /orchestrator/override-guardrails/{loop_id} answers like the example of the document', async () => {
    const request = `{
  "override_fatigue": true,
  "override_max_reruns": false,
  "override_by": "operator",
  "override_reason": "Manual override to continue exploration"
}`;
    const { status, body } = await override('loop_001', request);
    expect(status).toBe(200);
    expect(body).toEqual({
      status: 'success',
      loop_id: 'loop_001',
      override_fatigue: true,
      override_max_reruns: false,
      overridden_by: 'operator',
      override_reason: 'Manual override to continue exploration',
    });
    expect((await override('loop_001', request)).body).toMatchObject({ status: 'already_pending' });
  });
});

describe('the worked families', () => {
  it.each(readFamilies().map((family) => [family.family, family] as const))(
    'the worked family %s gets the expected decisions',
    async (name, vector) => {
      const family = newFamily(world, name);
      const named = (loopId: string): string => loopId.replace(vector.family, family);
      for (const { loop_id, expect: expected, ...loop } of vector.loops) {
        const { override_fatigue, override_max_reruns, override_by, ...review } = loop;
        const flags = { override_fatigue, override_max_reruns, override_by };
        const body = { ...report(named(loop_id), review), ...flags, max_reruns: vector.max_reruns };
        const { body: answer } = await complete(body, { role: 'operator' });
        const { reflection_result: reflection, decision_result: decision } = answer;
        const { reason, new_loop_id, reflection_fatigue, repeated_tags, bias_echo, ...decided } = expected;
        expect(reflection).toMatchObject({ reflection_fatigue, repeated_tags, bias_echo });
        expect(decision).toMatchObject({
          ...decided,
          ...(typeof new_loop_id === 'string' ? { new_loop_id: named(new_loop_id) } : {}),
          [decision.decision === 'rerun' ? 'rerun_reason' : 'finalize_reason']: reason,
        });
      }
    },
  );
});

describe('a report of a loop elsewhere', () => {
  it('a report gets the same answer for the same body, with its keys in any order, and is refused with another body', async () => {
    const body = report(newFamily(world, 'same'), LOW);
    const first = await complete(body);
    const turned = Object.fromEntries(Object.entries(body).reverse());
    expect((await complete(turned)).body).toEqual(first.body);
    expect(await complete({ ...body, reflection_result: GOOD })).toMatchObject({
      status: 409,
      body: problem('other_body'),
    });
  });

  it('a report without a review is reviewed once by the server, and is refused if the server has no reviewer', async () => {
    const body = { loop_id: newFamily(world, 'unreviewed'), reflection_status: 'done' };
    const before = reviews;
    const first = await complete(body);
    expect(first.body.reflection_result).toMatchObject(BY_REVIEWER);
    expect((await complete(body)).body).toEqual(first.body);
    expect(reviews - before).toBe(1);
    const elsewhere = { ...body, loop_id: newFamily(withoutReviewer, 'unreviewed') };
    const refused = await withoutReviewer.ask('POST', '/orchestrator/loop-complete', { body: elsewhere });
    expect(refused).toMatchObject({ status: 422, body: problem('review_missing') });
  });

  it.each<[string, Record<string, unknown>]>([
    ['another status than done', { reflection_status: 'failed' }],
    ['a flag without a name', { override_fatigue: true }],
    ['a flag with a null for a name', { override_max_reruns: true, override_by: null }],
    ['a score that is none', { reflection_result: { alignment_score: 1.2, drift_score: 0 } }],
    ['half a review', { reflection_result: { alignment_score: 1 } }],
    ['a limit that is none', { max_reruns: -1 }],
    ['a key that nobody knows', { reflection_results: GOOD }],
    ['an id that is none', { loop_id: '../etc' }],
  ])('a report with %s is refused with 422', async (_what, wrong) => {
    const body = { ...report(newFamily(world, 'wrong'), GOOD), ...wrong };
    expect((await complete(body, { role: 'operator' })).status).toBe(422);
    const path = `/orchestrator/guardrails-status/${encodeURIComponent(body.loop_id)}`;
    expect(await world.ask('GET', path)).toMatchObject({ status: 404, body: problem('unknown_loop') });
  });

  it('a report with an override flag, or with a limit above the policy, needs the role operator', async () => {
    const flagged = report(newFamily(world, 'role'), LOW, { override_fatigue: true, override_by: 'me' });
    expect((await complete(flagged)).status).toBe(403);
    expect((await complete(flagged, { role: 'operator' })).status).toBe(200);
    const raised = report(newFamily(world, 'role'), LOW, { max_reruns: 4 });
    expect((await complete(raised)).status).toBe(403);
    expect((await complete({ ...raised, max_reruns: 3 })).status).toBe(200);
  });

  it('a family keeps its order and its first limit, and ends for good', async () => {
    const family = newFamily(world, 'order');
    expect((await complete(report(`${family}_r1`))).body).toMatchObject(problem('not_a_first_loop'));
    await complete(report(family, LOW, { max_reruns: 1 }));
    expect(await complete(report(`${family}_r2`))).toMatchObject({ status: 409, body: problem('out_of_order') });
    expect(await complete(report(`${family}_r1`, LOW, { max_reruns: 2 }))).toMatchObject({
      status: 422,
      body: problem('max_reruns_fixed'),
    });
    const last = await complete(report(`${family}_r1`, LOW));
    expect(last.body.decision_result).toMatchObject({ finalize_reason: 'max_reruns_reached', force_finalize: true });
    expect(await complete(report(`${family}_r2`))).toMatchObject({ status: 409 });
    expect(await override(family, { override_fatigue: true, override_by: 'me' })).toMatchObject({
      status: 409,
      body: problem('ended'),
    });
    expect(await statusOf(family)).toMatchObject({ finalize_reason: 'max_reruns_reached', force_finalize: true });
  });
});

describe('an override of a loop elsewhere', () => {
  it('an override allows one more loop, and a fourth override is refused', async () => {
    const family = newFamily(world, 'override');
    await complete(report(family, LOW, { max_reruns: 0, override_max_reruns: true, override_by: 'me' }), {
      role: 'operator',
    });
    const flags = { override_max_reruns: true, override_by: 'ann' };
    expect((await override(`${family}_r1`, flags)).body).toMatchObject({ status: 'success', loop_id: `${family}_r1` });
    expect((await complete(report(`${family}_r1`))).body.decision_result.decision).toBe('rerun');
    await override(family, flags);
    expect((await complete(report(`${family}_r2`))).body.decision_result.decision).toBe('rerun');
    expect(await override(family, flags)).toMatchObject({ status: 409, body: problem('max_overrides') });
  });

  it('an override counts once per key, and an incomplete one is refused with the reason', async () => {
    const family = newFamily(world, 'key');
    await complete(report(family, LOW));
    const flags = { override_fatigue: true, override_by: 'ann' };
    const headers = { 'idempotency-key': family };
    const [one, two] = [await override(family, flags, { headers }), await override(family, flags, { headers })];
    expect([one.body['status'], two.body]).toEqual(['success', one.body]);
    expect((await override(family, { override_by: 'ann' })).status).toBe(422);
    expect((await override(family, { override_fatigue: true })).status).toBe(422);
    expect((await override('nobody-reported-this', flags)).status).toBe(404);
  });
});

describe('a loop of an own run', () => {
  const start = async (name: string, more: object = {}): Promise<string> => {
    const run_id = world.newRunId(name);
    await world.runs.start({ agent: 'judged', goal: name, run_id, policy: { retry: { base_ms: 1 } }, ...more });
    return run_id;
  };
  const ask = (loopId: string, more: object = {}) => complete({ loop_id: loopId, reflection_status: 'done', ...more });

  it('a report about a loop of a Secondwind run gets the decision of the run, while it runs and afterwards', async () => {
    const runId = await start('own');
    const loop = `loop_${runId}`;
    const [first, second] = [await ask(loop, { orchestrator_persona: 'HOST' }), await ask(`${loop}_r1`)];
    expect(first.body).toMatchObject({
      loop_id: loop,
      reflection_result: { alignment_score: 0.6, drift_score: 0.1, reflection_persona: 'SAGE' },
      decision_result: { decision: 'rerun', original_loop_id: loop, new_loop_id: `${loop}_r1`, rerun_count: 1 },
      orchestrator_persona: 'HOST',
    });
    expect(second.body).toMatchObject({
      reflection_result: { alignment_score: 0.9, repetition_counts: { haste: 2 } },
      decision_result: { decision: 'finalize', finalize_reason: 'thresholds_met', force_finalize: false },
      orchestrator_persona: 'SAGE',
    });
    await world.runs.result(runId);
    expect((await ask(`${loop}_r1`)).body).toEqual(second.body);
    expect(await statusOf(loop)).toMatchObject({
      rerun_count: 1,
      alignment_score: 0.6,
      finalize_reason: 'thresholds_met',
    });
    expect(await statusOf(`${loop}_r1`)).toEqual((await world.runs.get(runId)).guardrails);
  });

  it('a loop of a Secondwind run is found by the name that it was given', async () => {
    const loop_id = newFamily(world, 'given-name');
    const runId = await start('named', { loop_id });
    await world.runs.result(runId);
    expect((await ask(loop_id)).body).toMatchObject({ decision_result: { new_loop_id: `${loop_id}_r1` } });
    expect(await complete(report(loop_id))).toMatchObject({
      status: 422,
      body: { errors: [{ path: '$.reflection_result' }] },
    });
  });

  it('a report about a loop of a Secondwind run may have no review, no flag and no other limit', async () => {
    const runId = await start('closed');
    const loop = `loop_${runId}`;
    const flag = { loop_id: loop, reflection_status: 'done', override_fatigue: true, override_by: 'me' };
    expect((await complete(report(loop))).status).toBe(422);
    expect((await complete(flag, { role: 'operator' })).status).toBe(422);
    expect((await ask(loop, { max_reruns: 2 })).body).toMatchObject(problem('max_reruns_fixed'));
    await world.runs.result(runId);
    expect((await ask(`${loop}_r7`)).status).toBe(404);
  });

  it('an override of a loop of a Secondwind run goes to the run, and the answer has the requested name', async () => {
    const plan = endlessPlan();
    const runId = await start('override-own', { agent: 'endless', plan });
    const loop = `loop_${runId}`;
    const flags = { override_fatigue: true, override_by: 'ann' };
    expect(await override(loop, flags)).toMatchObject({ status: 200, body: { status: 'success', loop_id: loop } });
    expect((await override(`${loop}_r9`, flags)).status).toBe(404);
    expect(await ask(`${loop}_r1`)).toMatchObject({ status: 409, body: problem('out_of_order') });
    const hasty = world.clientWith({ guards: { deadlineMs: 300 } }).guards;
    const impatient = hasty.completeLoop({ loop_id: loop, reflection_status: 'done' });
    await expect(impatient).rejects.toMatchObject({ code: 'loop_running' });
    const waiting = ask(loop);
    await world.ask('POST', `/v1/runs/${runId}/cancel`, { body: { by: 'ann' } });
    expect(await waiting).toMatchObject({ status: 409, body: problem('ended') });
    expect((await override(loop, flags)).status).toBe(409);
  });

  it('a loop of a Secondwind run and a loop elsewhere never share a name', async () => {
    const family = newFamily(world, 'shared');
    await complete(report(family));
    const run = { agent: 'demo', goal: 'x', loop_id: family };
    const refused = await world.ask('POST', '/v1/runs', { body: run });
    expect(refused).toMatchObject({ status: 409, body: problem('family_taken') });
    const named = await world.ask('POST', '/v1/runs', {
      body: { ...run, loop_id: undefined, run_id: family.slice(5) },
    });
    expect(named).toMatchObject({ status: 409, body: problem('family_taken') });
  });
});
