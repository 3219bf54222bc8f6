/**
 * What the projection tells of runs on a real Temporal, compared with what those runs did. It does not prove how the
 * projection takes odd payloads: that is test/unit/client.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { RunEvent } from '../../src/client/history/run-event.ts';
import { fetchHistory } from '../../src/client/history/read-history.ts';
import { openProjection, type ProjectionState } from '../../src/client/history/projection-state.ts';
import { projectEvent } from '../../src/client/history/project-event.ts';
import { projectHistory } from '../../src/client/history/project-history.ts';
import { watchRun } from '../../src/client/history/watch-run.ts';
import { RunNotFoundError } from '../../src/protocol/errors.ts';
import { defineAgent } from '../../src/define/define-agent.ts';
import { defineTool } from '../../src/define/define-tool.ts';
import { demoAgent } from '../../src/cli/demo/demo-agent.ts';
import { openRunWorld, type RunWorld } from '../support/run-world.ts';
import { workflowIdOfRun } from '../../src/protocol/ids.ts';
import type { PlanStep } from '../../src/protocol/schemas/plan.ts';

/** Works until somebody stops it. */
const endless = defineTool({
  name: 'endless',
  effect: 'read',
  input: z.json(),
  output: z.json(),
  timeoutMs: 60_000,
  run: (_input, { signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    }),
});

/** Does its work and gives no answer in time; asked afterwards, it knows that it has. */
const forgetful = defineTool({
  name: 'forgetful',
  effect: 'side_effect',
  input: z.json(),
  output: z.json(),
  timeoutMs: 100,
  // Stops when it is told to, so that nobody has to wait for it.
  run: (_input, { signal }) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('told to stop')))),
  reconcile: () => ({ verdict: 'done', output: { paid: true } }),
});

let world: RunWorld;
beforeAll(async () => {
  const worker = defineAgent({ name: 'worker', tools: [...demoAgent.tools, endless, forgetful] });
  world = await openRunWorld([worker]);
  await world.startWorker();
});
afterAll(() => world.close());

const flaky = (fail_times: number, error_code?: string) => ({
  phase: 'demo',
  tool: 'demo.flaky',
  input: { fail_times, ...(error_code && { error_code }) },
});
const quick = { retry: { base_ms: 20 } };
const start = (run_id: string, steps: PlanStep[], workflow: { hand_over_after_events?: number } = {}) =>
  world.clientWith({ workflow }).runs.start({ agent: 'worker', goal: 'try', run_id, plan: { steps }, policy: quick });

const project = async (runId: string) => projectHistory(await fetchHistory(world.client, runId));
const names = (events: RunEvent[]): string[] => events.map((event) => event.event);
const of = <Name extends RunEvent['event']>(events: RunEvent[], name: Name) =>
  events.filter((event): event is Extract<RunEvent, { event: Name }> => event.event === name);

async function openQuestion(runId: string): Promise<string> {
  let asked: string | undefined;
  await expect.poll(async () => (asked = (await world.runs.get(runId)).pending_question?.question_id)).toBeDefined();
  return asked ?? '';
}

async function take(events: AsyncIterable<RunEvent>, until?: (event: RunEvent) => boolean): Promise<RunEvent[]> {
  const seen: RunEvent[] = [];
  for await (const event of events) {
    seen.push(event);
    if (until?.(event)) break;
  }
  return seen;
}

describe('the projection of a run', () => {
  it('tells a failure, the wait, the guidance and the end in their order', async () => {
    const run_id = world.newRunId('learns');
    await start(run_id, [flaky(1)]);
    const result = await world.runs.result(run_id);
    const { events, steps } = await project(run_id);

    const told = names(events).filter((name) => name !== 'failure_recorded');
    expect(told).toEqual([
      'run_started',
      'step_started',
      'attempt_ended',
      'waiting',
      'guidance_shown',
      'attempt_ended',
      'review',
      'decision',
      'run_ended',
    ]);
    expect(events[0]).toMatchObject({ run_id, agent: 'worker', goal: 'try', loop_id: `loop_${run_id}` });
    expect(of(events, 'waiting')).toMatchObject([{ reason: 'back_off', step_id: 1, attempt: 2 }]);
    expect(of(events, 'attempt_ended')).toMatchObject([
      { attempt: 1, outcome: 'failed', failure: { category: 'server_error', error_code: 'HTTP_503', origin: 'tool' } },
      { attempt: 2, outcome: 'ok', artifact_id: result.result?.artifact_id },
    ]);
    const [record] = await world.store.records.forRun(run_id);
    expect(of(events, 'failure_recorded')).toMatchObject([
      { failure_id: record?.failure_id, fingerprint: record?.fingerprint, step_id: 1, attempt: 1 },
    ]);
    expect(of(events, 'guidance_shown')[0]?.rows[0]).toMatchObject({ failure_id: record?.failure_id });
    expect(of(events, 'run_ended')).toMatchObject([{ outcome: 'completed', used: { attempts: 2 } }]);

    const wait_ms = of(events, 'waiting')[0]?.wait_ms;
    expect(steps).toEqual([
      {
        loop_id: `loop_${run_id}`,
        step_id: 1,
        phase: 'demo',
        tool: 'demo.flaky',
        input: { fail_times: 1 },
        attempts: [
          {
            attempt: 1,
            started_at: expect.any(String),
            ended_at: expect.any(String),
            outcome: 'failed',
            wait_ms: 0,
            failure_id: record?.failure_id,
            manifest_id: record?.context_refs.manifest_id,
          },
          {
            attempt: 2,
            started_at: expect.any(String),
            ended_at: expect.any(String),
            outcome: 'ok',
            wait_ms,
            output: expect.objectContaining({ inline: true, artifact_id: result.result?.artifact_id }),
          },
        ],
      },
    ]);
    for (const { started_at, ended_at } of steps[0]?.attempts ?? []) {
      expect(Date.parse(ended_at ?? '')).toBeGreaterThanOrEqual(Date.parse(started_at));
    }
  });

  it('tells a question, its answer and who gave it, once', async () => {
    const run_id = world.newRunId('asks');
    await start(run_id, [flaky(1, 'auth')]);
    const question_id = await openQuestion(run_id);
    await world.runs.feedback(run_id, { text: 'take care', by: 'bob' });
    // A signal that the run cannot use, and an answer to another question, are no answers.
    const handle = world.client.workflow.getHandle(workflowIdOfRun(run_id));
    await handle.signal('answer', 'nonsense');
    await world.runs.answer(run_id, { question_id: 'other', decision: 'stop', by: 'eve' });
    await world.runs.answer(run_id, { question_id, decision: 'correct', text: 'log in first', by: 'ada' });
    await world.runs.result(run_id);
    const { events } = await project(run_id);

    expect(of(events, 'question_asked')).toMatchObject([{ question_id, escalation: 0, options: expect.any(Array) }]);
    expect(of(events, 'waiting')).toMatchObject([{ reason: 'answer' }]);
    expect(of(events, 'answered')).toMatchObject([
      { question_id, kind: 'answered', decision: 'correct', by: 'ada', text: 'log in first' },
    ]);
    expect(of(events, 'review')[0]).toMatchObject({ source: 'person', by: 'bob', text: 'take care' });
    expect(
      of(events, 'failure_recorded')
        .map((event) => event.signal_type)
        .sort(),
    ).toEqual(['human_correction', 'tool_error']);
    expect(of(events, 'run_ended')).toMatchObject([{ outcome: 'completed' }]);
  });

  it('ends a cancelled run with its outcome, though the workflow left no result', async () => {
    const run_id = world.newRunId('cancelled');
    await start(run_id, [{ phase: 'work', tool: 'endless', input: null }]);
    const running = await expect
      .poll(async () => (await project(run_id)).steps)
      .toHaveLength(1)
      .then(() => project(run_id));
    expect(running.steps[0]?.attempts).toMatchObject([{ attempt: 1, outcome: 'running', ended_at: null }]);
    await world.runs.cancel(run_id, { by: 'ada', reason: 'enough' }, { waitMs: 0 });
    await world.runs.result(run_id);
    const { events, steps } = await project(run_id);

    expect(of(events, 'decision')).toMatchObject([
      { source: 'person', decision: 'cancel', by: 'ada', reason: 'enough' },
    ]);
    expect(events.at(-1)).toMatchObject({ event: 'run_ended', outcome: 'cancelled', used: { attempts: 1 } });
    expect(events.at(-1)).toMatchObject({ why: expect.stringContaining('ada cancelled the run: enough') });
    expect(steps[0]?.attempts).toMatchObject([{ attempt: 1, outcome: 'cancelled' }]);
  });

  it('leaves no attempt running when the workflow is terminated', async () => {
    const run_id = world.newRunId('terminated');
    await start(run_id, [{ phase: 'work', tool: 'endless', input: null }]);
    await expect.poll(async () => (await project(run_id)).steps).toHaveLength(1);
    await world.client.workflow.getHandle(workflowIdOfRun(run_id)).terminate('pulled the plug');
    const { events, steps } = await project(run_id);
    expect(events.at(-1)).toMatchObject({ event: 'run_ended', outcome: 'cancelled', reason: 'terminated' });
    expect(steps[0]?.attempts).toMatchObject([{ outcome: 'cancelled' }]);
  });

  it('tells that an attempt without an answer has had its effect', async () => {
    const run_id = world.newRunId('reconciled');
    await start(run_id, [{ phase: 'pay', tool: 'forgetful', input: null }]);
    await world.runs.result(run_id);
    const { events, steps } = await project(run_id);
    expect(of(events, 'attempt_ended')).toMatchObject([
      { attempt: 1, outcome: 'failed', failure: { certainty: 'unknown' } },
      { attempt: 1, outcome: 'ok', reconciled: true },
    ]);
    expect(steps[0]?.attempts).toMatchObject([{ attempt: 1, outcome: 'ok' }]);
  });

  it('is one story over a chain of executions, also when its state goes through JSON after each event', async () => {
    const run_id = world.newRunId('chain');
    await start(run_id, [flaky(1), flaky(0), flaky(1), flaky(0)], { hand_over_after_events: 12 });
    await world.runs.result(run_id);
    const history = await fetchHistory(world.client, run_id);
    expect(history.filter((event) => event.workflowExecutionContinuedAsNewEventAttributes).length).toBeGreaterThan(0);
    const whole = projectHistory(history);

    expect(of(whole.events, 'run_started')).toHaveLength(1);
    expect(of(whole.events, 'run_ended')).toHaveLength(1);
    expect(of(whole.events, 'failure_recorded').map((event) => event.failure_id)).toEqual([
      `${run_id}:s1:a1:f0`,
      `${run_id}:s3:a1:f0`,
    ]);
    expect(whole.steps.map((step) => [step.step_id, step.attempts.length])).toEqual([
      [1, 2],
      [2, 1],
      [3, 2],
      [4, 1],
    ]);
    expect(new Set(whole.events.map((event) => event.id)).size).toBe(whole.events.length);

    let state = openProjection();
    const piecewise: RunEvent[] = [];
    for (const event of history) {
      const next = projectEvent(JSON.parse(JSON.stringify(state)) as ProjectionState, event);
      state = next.state;
      piecewise.push(...next.events);
    }
    expect(piecewise).toEqual(whole.events);
    expect(state).toMatchObject({ calls: {}, unsaved: [], unresolved: [], question: null, ended: true });
  });
});

describe('watching a run', () => {
  it('tells events while the run is under way and ends when it has ended', async () => {
    const run_id = world.newRunId('watched');
    await start(run_id, [flaky(1), flaky(1, 'auth'), flaky(0)], { hand_over_after_events: 12 });
    const seen: RunEvent[] = [];
    for await (const event of watchRun(world.client, run_id)) {
      seen.push(event);
      // Only a watch that tells things as they happen ever gets past this question.
      if (event.event !== 'question_asked') continue;
      await world.runs.answer(run_id, { question_id: event.question_id, decision: 'retry', by: 'ada' });
    }
    expect(seen.at(-1)).toMatchObject({ event: 'run_ended', outcome: 'completed' });
    expect(seen).toEqual((await project(run_id)).events);
  });

  it('goes on from any event with exactly the rest', async () => {
    const run_id = world.newRunId('resumed');
    await start(run_id, [flaky(1), flaky(1), flaky(0)], { hand_over_after_events: 12 });
    const all = await take(watchRun(world.client, run_id));
    for (const [index, { id }] of all.entries()) {
      expect(await take(watchRun(world.client, run_id, { afterId: id }))).toEqual(all.slice(index + 1));
    }
    expect(await take(watchRun(world.client, run_id, { afterId: 'not ours' }))).toEqual(all);
  });

  it('can be left and taken up while the run is under way', async () => {
    const run_id = world.newRunId('left');
    await start(run_id, [flaky(1, 'auth')]);
    const before = await take(watchRun(world.client, run_id), (event) => event.event === 'question_asked');
    await world.runs.answer(run_id, { question_id: await openQuestion(run_id), decision: 'retry', by: 'ada' });
    const afterId = before.at(-1)?.id ?? '';
    const after = await take(watchRun(world.client, run_id, { afterId }));
    expect([...before, ...after]).toEqual((await project(run_id)).events);
  });

  it('stops at once when its signal says so', async () => {
    const run_id = world.newRunId('hung-up');
    await start(run_id, [flaky(1, 'auth')]);
    const hangUp = new AbortController();
    let abortedAt = 0;
    const seen: RunEvent[] = [];
    for await (const event of watchRun(world.client, run_id, { signal: hangUp.signal })) {
      seen.push(event);
      if (event.event !== 'waiting') continue;
      setTimeout(() => {
        abortedAt = performance.now();
        hangUp.abort();
      }, 200);
    }
    // A request for news that is under way would last for 20 s and more.
    expect(performance.now() - abortedAt).toBeLessThan(10_000);
    expect(names(seen)).not.toContain('run_ended');
    expect(await take(watchRun(world.client, run_id, { signal: hangUp.signal }))).toEqual([]);
    await world.runs.cancel(run_id, { by: 'test' }, { waitMs: 0 });
  });

  it('says when there is no such run', async () => {
    await expect(take(watchRun(world.client, 'nobody'))).rejects.toBeInstanceOf(RunNotFoundError);
    await expect(fetchHistory(world.client, 'nobody')).rejects.toBeInstanceOf(RunNotFoundError);
  });
});
