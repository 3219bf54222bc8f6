/**
 * Families of loops that another orchestrator runs, reported to guards on real Temporal. Needs the shared stack. That a
 * worker may be killed at any moment is shown in loop-guard-killed.test.ts.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TemporalGuards } from '../../src/client/temporal/temporal-guards.ts';
import type { LoopAnswer } from '../../src/core/guardrails/loop-answer.ts';
import type { OverrideRequest } from '../../src/core/guardrails/overrides.ts';
import { GUARD_MESSAGE, QUERY } from '../../src/protocol/names.ts';
import {
  type FamilyVector,
  GOOD,
  guardsOf,
  LOW,
  newFamily,
  readFamilies,
  refusalOf,
  report,
  TIRELESS,
} from '../support/guard-world.ts';
import { openRunWorld, type RunWorld } from '../support/run-world.ts';
import { idPrefix } from '../support/stack.ts';
import { workflowIdOfGuard } from '../../src/protocol/ids.ts';
import type { LoopReport } from '../../src/core/guardrails/loop-report.ts';

let world: RunWorld;
let guards: TemporalGuards;
beforeAll(async () => {
  world = await openRunWorld([]);
  guards = guardsOf(world);
  await world.startWorker();
});
afterAll(() => world.close());

describe('families.json', () => {
  /** Families are the namespace's, so the vector's names get a prefix of this file's. */
  const own = (id: string): string => `${idPrefix}-${id}`;

  function told({ reflection_result: reflection, decision_result: decision }: LoopAnswer): Record<string, unknown> {
    return {
      reflection_fatigue: reflection.reflection_fatigue,
      repeated_tags: reflection.repeated_tags,
      bias_echo: reflection.bias_echo,
      rerun_trigger: decision.rerun_trigger,
      decision: decision.decision,
      reason: decision.decision === 'rerun' ? decision.rerun_reason : decision.finalize_reason,
      force_finalize: decision.force_finalize,
      ...(decision.decision === 'rerun'
        ? { new_loop_id: decision.new_loop_id, rerun_number: decision.rerun_number }
        : {}),
      rerun_count: decision.rerun_count,
      max_reruns: decision.max_reruns,
    };
  }

  const expected = ({ new_loop_id: next, ...rest }: Record<string, unknown>): Record<string, unknown> => ({
    ...rest,
    ...(typeof next === 'string' ? { new_loop_id: own(next) } : {}),
  });

  it.each(readFamilies())('$family gets the same decisions from a guard', async (vector: FamilyVector) => {
    for (const {
      loop_id,
      expect: wanted,
      override_fatigue,
      override_max_reruns,
      override_by,
      ...review
    } of vector.loops) {
      const flags = {
        ...(override_fatigue === undefined ? {} : { override_fatigue }),
        ...(override_max_reruns === undefined ? {} : { override_max_reruns }),
        ...(override_by === undefined ? {} : { override_by }),
      };
      const body = report(own(loop_id), review, { max_reruns: vector.max_reruns, ...flags });
      expect(told(await guards.completeLoop(body))).toEqual(expected(wanted));
    }
    const handle = world.client.workflow.getHandle(workflowIdOfGuard(own(vector.family)));
    expect(await handle.result()).toMatchObject({ state: { ended: { at: expect.any(String) } } });
  });
});

describe('a report', () => {
  it('that comes twice at once is decided once and answered with the same bytes', async () => {
    const loop = newFamily(world, 'racing');
    const answers = await Promise.all(Array.from({ length: 6 }, () => guards.completeLoop(report(loop))));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(await guards.status(loop)).toMatchObject({ rerun_count: 1, alignment_score: 0.7 });
    expect(await guards.status(`${loop}_r1`)).toMatchObject({ rerun_count: 1, alignment_score: null });
  });

  it('gets the same bytes also under another update id, and whatever the order of its keys', async () => {
    const loop = newFamily(world, 'again');
    const body = report(loop);
    const first = await guards.completeLoop(body);
    const turned = Object.fromEntries(Object.entries(body).reverse()) as unknown as LoopReport;
    expect(JSON.stringify(await guards.completeLoop(turned))).toBe(JSON.stringify(first));
    const handle = world.client.workflow.getHandle(workflowIdOfGuard(loop));
    const bare = await handle.executeUpdate<LoopAnswer, [unknown]>(GUARD_MESSAGE.loopComplete, { args: [turned] });
    expect(JSON.stringify(bare)).toBe(JSON.stringify(first));
  });

  it('with another body is a conflict, and the decision stands', async () => {
    const loop = newFamily(world, 'other-body');
    const first = await guards.completeLoop(report(loop));
    expect(await refusalOf(guards.completeLoop(report(loop, GOOD)))).toBe('other_body');
    expect(await guards.completeLoop(report(loop))).toEqual(first);
    const racing = newFamily(world, 'racing-bodies');
    const outcomes = await Promise.allSettled([LOW, GOOD].map((review) => guards.completeLoop(report(racing, review))));
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('out of order is a conflict, and is taken once it is due', async () => {
    const loop = newFamily(world, 'order');
    await guards.completeLoop(report(loop));
    expect(await refusalOf(guards.completeLoop(report(`${loop}_r2`)))).toBe('out_of_order');
    await guards.completeLoop(report(`${loop}_r1`));
    expect((await guards.completeLoop(report(`${loop}_r2`))).decision_result.rerun_count).toBe(3);
  });

  it('that is wrong, or of a rerun of an unknown family, starts no guard', async () => {
    const loop = newFamily(world, 'none');
    expect(await refusalOf(guards.completeLoop({ loop_id: loop, reflection_status: 'running' }))).toBe(
      'invalid_report',
    );
    expect(await refusalOf(guards.completeLoop('nothing' as never))).toBe('invalid_report');
    expect(await refusalOf(guards.completeLoop({ loop_id: loop, reflection_status: 'done' }))).toBe('review_missing');
    expect(await refusalOf(guards.completeLoop(report(`${loop}_r1`)))).toBe('not_a_first_loop');
    expect(await refusalOf(guards.status(loop))).toBe('unknown_loop');
    expect(await refusalOf(guards.trace(loop))).toBe('unknown_loop');
    expect(await refusalOf(guards.override(loop, { override_fatigue: true, override_by: 'ann' }))).toBe('unknown_loop');
  });

  it('that had its review added by a door is known by the body that was sent', async () => {
    const loop = newFamily(world, 'reviewed');
    const bodyHash = 'a'.repeat(64);
    const first = await guards.completeLoop(report(loop, LOW), { bodyHash });
    expect(await guards.completeLoop(report(loop, GOOD), { bodyHash })).toEqual(first);
  });

  it('fixes max_reruns for its family', async () => {
    const loop = newFamily(world, 'fixed');
    await guards.completeLoop(report(loop, LOW, { max_reruns: 5 }));
    const other = guards.completeLoop(report(`${loop}_r1`, LOW, { max_reruns: 6 }));
    expect(await refusalOf(other)).toBe('max_reruns_fixed');
    expect((await guards.completeLoop(report(`${loop}_r1`))).decision_result.max_reruns).toBe(5);
  });
});

describe('an override', () => {
  const lift = { override_max_reruns: true, override_by: 'ann', override_reason: 'almost there' };

  it('frees exactly one rerun, also when two race for it', async () => {
    const tireless = guardsOf(world, TIRELESS);
    const loop = newFamily(world, 'lift');
    await tireless.completeLoop(report(loop, LOW, { max_reruns: 1 }));
    const answers = await Promise.all([tireless.override(loop, lift), tireless.override(`${loop}_r1`, lift)]);
    expect(answers.map((answer) => answer.status).sort()).toEqual(['already_pending', 'success']);
    const freed = await tireless.completeLoop(report(`${loop}_r1`));
    expect(freed.decision_result).toMatchObject({ decision: 'rerun', new_loop_id: `${loop}_r2` });
    const last = await tireless.completeLoop(report(`${loop}_r2`));
    expect(last.decision_result).toMatchObject({ decision: 'finalize', finalize_reason: 'max_reruns_reached' });
    const { overrides } = await tireless.trace(loop);
    expect(overrides.map(({ outcome, spent_by }) => [outcome, spent_by])).toEqual([
      ['spent', `${loop}_r1`],
      ['already_pending', null],
    ]);
    expect(await refusalOf(tireless.override(loop, lift))).toBe('ended');
  });

  it('repeated with its key is one override, and a bad one is refused', async () => {
    const loop = newFamily(world, 'key');
    await guards.completeLoop(report(loop));
    const send = () => guards.override(loop, lift, { idempotencyKey: 'k1' });
    expect([await send(), await send()].map((answer) => answer.status)).toEqual(['success', 'success']);
    expect((await guards.trace(loop)).overrides).toHaveLength(1);
    expect(await refusalOf(guards.override(loop, { override_fatigue: true } as OverrideRequest))).toBe(
      'invalid_override',
    );
    expect(await refusalOf(guards.override(`${loop}_r7`, lift))).toBe('unknown_loop');
  });

  it('as a signal counts too, and signals that nobody can read are kept and change nothing', async () => {
    const loop = newFamily(world, 'signal');
    await guards.completeLoop(report(loop));
    const handle = world.client.workflow.getHandle(workflowIdOfGuard(loop));
    const unknownField = { ...lift, override_fatige: true };
    const unreadable = [undefined, null, 7, 'x', [], { override_by: 3 }, { ...lift, loop_id: {} }, unknownField];
    for (const bad of unreadable) {
      await handle.signal(GUARD_MESSAGE.override, bad);
      await handle.signal(GUARD_MESSAGE.loopComplete, bad, bad);
    }
    await handle.signal(GUARD_MESSAGE.loopComplete, report('somebody-else'));
    await handle.signal(GUARD_MESSAGE.override, lift);
    await handle.signal(GUARD_MESSAGE.loopComplete, report(`${loop}_r1`));
    expect(await handle.query(QUERY.trace)).toMatchObject({
      trace: [{ status: 'rerun' }, { status: 'rerun' }, { status: 'running', loop_id: `${loop}_r2` }],
      overrides: [{ override_by: 'ann', outcome: 'pending' }],
      ignored: { length: 17 },
    });
    expect(await handle.query(QUERY.guardrails)).toMatchObject({ loop_id: `${loop}_r2`, rerun_count: 2 });
  });
});
