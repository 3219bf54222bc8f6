/** What can be read of runs over HTTP, on a real Temporal, store and worker. Events have a file of their own. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { AskedQuestion, FailureItem, ListedRun, ProjectedStep } from '../../src/client/views.ts';
import { workflowIdOfRun } from '../../src/protocol/ids.ts';
import { WORKFLOW_TYPE } from '../../src/protocol/names.ts';
import type { RunStatus } from '../../src/protocol/run.ts';
import { apiAgents, endlessPlan } from '../support/api-agents.ts';
import { type ApiWorld, openApiWorld } from '../support/api-world.ts';
import { idPrefix } from '../support/stack.ts';

let world: ApiWorld;
let stopWorker: () => Promise<void>;
beforeAll(async () => {
  world = await openApiWorld(apiAgents);
  stopWorker = await world.startWorker();
});
afterAll(() => world.close());

const quick = { retry: { base_ms: 1 } };
const flaky = (input: object) => ({ steps: [{ phase: 'work', tool: 'demo.flaky', input }] });

async function start(name: string, more: object = {}): Promise<string> {
  const run_id = world.newRunId(name);
  const body = { agent: 'demo', goal: name, run_id, policy: quick, ...more };
  expect((await world.ask('POST', '/v1/runs', { body })).status).toBe(201);
  return run_id;
}
const ended = async (runId: string): Promise<string> => {
  await world.runs.result(runId);
  return runId;
};
const statusOf = async (runId: string): Promise<RunStatus> =>
  (await world.ask<RunStatus>('GET', `/v1/runs/${runId}`)).body;
const untilAsked = (runId: string): Promise<unknown> =>
  vi.waitUntil(async () => (await statusOf(runId)).state === 'waiting_for_human', 30_000);

interface Page {
  runs: ListedRun[];
  next_cursor?: string;
}
const list = async (query: Record<string, string>): Promise<Page> =>
  (await world.ask<Page>('GET', `/v1/runs?${new URLSearchParams(query).toString()}`)).body;
const idsOf = ({ runs }: Page): string[] => runs.map((run) => run.run_id);

describe('the list of runs', () => {
  const label = `it's a label (%) ${idPrefix}`;
  let done: string[];
  let open: string;
  beforeAll(async () => {
    done = await Promise.all(
      ['one', 'two', 'three'].map(async (name) => ended(await start(name, { labels: [label] }))),
    );
    open = await start('open', { agent: 'endless', plan: endlessPlan(), labels: [label, 'other'] });
    const listed = async (query: object): Promise<number> => (await list({ label, ...query })).runs.length;
    await vi.waitUntil(async () => (await listed({})) === 4 && (await listed({ state: 'ended' })) === 3, 30_000);
  });
  afterAll(() => world.ask('POST', `/v1/runs/${open}/cancel`, { body: { by: 'the test' } }));

  it('the list of runs has open runs first, with agent, goal and state of each', async () => {
    const { runs } = await list({ label });
    expect(runs[0]).toMatchObject({ run_id: open, agent: 'endless', goal: 'open', state: 'running', ended_at: null });
    expect(runs[0]?.labels.sort()).toEqual([label, 'other'].sort());
    expect(
      runs
        .slice(1)
        .map((run) => run.run_id)
        .sort(),
    ).toEqual(done.sort());
    expect(runs[1]).toMatchObject({ state: 'ended', outcome: 'completed', attempts: 2 });
  });

  it('the list of runs can be filtered by state, agent, outcome and label', async () => {
    expect(idsOf(await list({ label, state: 'ended' })).sort()).toEqual(done.sort());
    expect(idsOf(await list({ label, state: 'running' }))).toEqual([open]);
    expect(idsOf(await list({ label, agent: 'endless' }))).toEqual([open]);
    expect(idsOf(await list({ label, outcome: 'completed' })).sort()).toEqual(done.sort());
    expect(idsOf(await list({ label, outcome: 'cancelled' }))).toEqual([]);
    expect(idsOf(await list({ label: `${label}' OR SecondwindAgent = 'demo` }))).toEqual([]);
  });

  it('the pages of the list of runs contain every run once', async () => {
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await list({ label, limit: '2', ...(cursor && { cursor }) });
      expect(page.runs.length).toBeLessThanOrEqual(2);
      seen.push(...idsOf(page));
      cursor = page.next_cursor;
    } while (cursor !== undefined);
    expect(seen.sort()).toEqual([...done, open].sort());
  });

  it.each([
    '?cursor=nonsense',
    '?cursor=tAAAA',
    '?limit=0',
    '?limit=many',
    '?state=sleeping',
    '?stat=ended',
    '?limit=1&limit=2',
    '?label=a%22b',
  ])('the list of runs refuses %s and says what to do', async (query) => {
    const answer = await world.ask<{ detail: string }>('GET', `/v1/runs${query}`);
    expect(answer.status).toBe(422);
    expect(answer.body.detail).not.toBe('');
  });

  it('the list of runs continues with runs that only the archive has, without repetitions', async () => {
    const run_id = world.newRunId('forgotten');
    await world.store.archivedRuns.put({
      run_id,
      agent: 'demo',
      goal: 'long ago',
      outcome: 'finalized',
      summary: { result: { used: { attempts: 3 } } },
      trace: [],
      labels: [label],
      started_at: '2020-01-01T00:00:00.000Z',
      ended_at: '2020-01-01T00:01:00.000Z',
    });
    const all = await list({ label });
    expect(all.runs.at(-1)).toMatchObject({ run_id, state: 'ended', outcome: 'finalized', attempts: 3 });
    expect(idsOf(all).sort()).toEqual([...done, open, run_id].sort());
    expect(idsOf(await list({ label, state: 'running' }))).toEqual([open]);
  });

  it('a search finds runs of Temporal and of the archive by id, goal, agent, label and tenant', async () => {
    const run_id = world.newRunId('archived-needle');
    await world.store.archivedRuns.put({
      run_id,
      agent: 'demo',
      goal: 'Find the Übergang in the haystack',
      outcome: 'finalized',
      summary: { facts: { tenant: 'acme-7' }, result: { used: { attempts: 1 } } },
      trace: [],
      labels: [`blue ${idPrefix}`],
      started_at: '2020-01-01T00:00:00.000Z',
      ended_at: '2020-01-01T00:01:00.000Z',
    });
    const live = await ended(await start('live-needle', { goal: 'Another HAYSTACK search', tenant: 'acme-8' }));
    const found = async (search: string, more: object = {}): Promise<string[]> =>
      idsOf(await list({ search, ...more })).filter((id) => id === live || id === run_id);
    await vi.waitUntil(async () => (await found('haystack')).length === 2, 30_000);
    expect(await found('haystack acme-8')).toEqual([live]);
    expect(await found('ÜBERGANG')).toEqual([run_id]);
    expect(await found('acme-7')).toEqual([run_id]);
    expect(await found(`blue ${idPrefix}`)).toEqual([run_id]);
    expect(await found(live.toUpperCase())).toEqual([live]);
    expect(await found('haystack nothing-has-this')).toEqual([]);
    expect(await found('haystack', { outcome: 'finalized' })).toEqual([run_id]);
    expect((await list({ search: 'acme-8' })).runs[0]).toMatchObject({ tenant: 'acme-8' });
  });

  it('the pages of a search contain every found run once', async () => {
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await list({ search: idPrefix, label, limit: '2', ...(cursor && { cursor }) });
      expect(page.runs.length).toBeLessThanOrEqual(2);
      seen.push(...idsOf(page));
      cursor = page.next_cursor;
    } while (cursor !== undefined);
    expect(seen.length).toBe(new Set(seen).size);
    expect(seen).toEqual(expect.arrayContaining([...done, open]));
  });
});

describe('a run that failed once and then succeeded', () => {
  let runId: string;
  beforeAll(async () => {
    runId = await ended(await start('flaky', { plan: flaky({ fail_times: 1 }) }));
  });

  it('the steps of a run show every attempt', async () => {
    const { body } = await world.ask<{ steps: ProjectedStep[] }>('GET', `/v1/runs/${runId}/steps`);
    expect(body.steps).toMatchObject([
      {
        step_id: 1,
        tool: 'demo.flaky',
        attempts: [
          { attempt: 1, outcome: 'failed' },
          { attempt: 2, outcome: 'ok' },
        ],
      },
    ]);
  });

  it('the failures of a run show each record with its current status', async () => {
    const { body } = await world.ask<{ failures: FailureItem[] }>('GET', `/v1/runs/${runId}/failures`);
    expect(body.failures).toHaveLength(1);
    expect(body.failures[0]).toMatchObject({
      run_id: runId,
      signal_type: 'tool_error',
      status: 'resolved',
      occurrence_count: 1,
      helpful_count: 1,
      attempted_action: { tool_name: 'demo.flaky' },
    });
  });

  it('the guidance of a run is exactly what the second attempt was shown, and its absence is reported', async () => {
    const shown = await world.ask<{ guidance: string; rows: { text: string }[] }>(
      'GET',
      `/v1/runs/${runId}/guidance?step_id=1`,
    );
    expect(shown.body).toMatchObject({ step_id: 1, attempt: 2 });
    expect(shown.body.guidance).toBe(shown.body.rows.map((row) => row.text).join('\n'));
    expect((await world.ask('GET', `/v1/runs/${runId}/guidance?step_id=1&attempt=2`)).body).toEqual(shown.body);
    for (const query of ['step_id=1&attempt=1', 'step_id=7']) {
      const { status, body } = await world.ask('GET', `/v1/runs/${runId}/guidance?${query}`);
      expect([status, body['type']]).toEqual([404, 'urn:secondwind:problem:no_guidance']);
    }
    expect((await world.ask('GET', `/v1/runs/${runId}/guidance`)).status).toBe(422);
  });

  it('the trace of a run shows its pass, and that there was no override', async () => {
    const { body } = await world.ask('GET', `/v1/runs/${runId}/trace`);
    expect(body).toMatchObject({
      trace: [{ loop_id: `loop_${runId}`, status: 'finalized', finalize_reason: 'thresholds_met', alignment_score: 1 }],
    });
    expect((await world.ask('GET', `/v1/runs/${runId}/overrides`)).body).toEqual({ overrides: [] });
  });
});

describe('an open run', () => {
  it('an open run shows its failures before it has ended', async () => {
    const runId = await start('asks', { plan: flaky({ fail_times: 5, error_code: 'auth' }) });
    await untilAsked(runId);
    const { body } = await world.ask<{ failures: FailureItem[] }>('GET', `/v1/runs/${runId}/failures`);
    expect(body.failures).toMatchObject([{ status: 'active', severity: 'high', step_id: 1 }]);
  });

  it('a run is in the list of questions as long as its question is open', async () => {
    const runId = await start('inbox', { plan: flaky({ fail_times: 5, error_code: 'auth' }) });
    const mine = async (): Promise<AskedQuestion[]> => {
      const { body } = await world.ask<{ questions: AskedQuestion[] }>('GET', '/v1/questions?open&limit=200');
      return body.questions.filter((question) => question.run_id === runId);
    };
    await expect.poll(async () => (await mine()).length, { timeout: 15_000 }).toBe(1);
    const [question] = await mine();
    expect(question).toMatchObject({ agent: 'demo', goal: 'inbox', options: expect.arrayContaining(['stop']) });
    const body = { question_id: question?.question_id, decision: 'stop', by: 'ann' };
    await world.ask('POST', `/v1/runs/${runId}/answer`, { body });
    await ended(runId);
    await expect.poll(async () => (await mine()).length, { timeout: 15_000 }).toBe(0);
  });

  it('an unknown run is 404 in every view', async () => {
    for (const view of ['', '/steps', '/failures', '/trace', '/overrides', '/guidance?step_id=1', '/events']) {
      const answer = await world.fetch(`/v1/runs/nobody-started-this${view}`);
      expect([view, answer.status]).toEqual([view, 404]);
    }
  });
});

describe('without a worker', () => {
  it('without a worker, views that need the run itself name what is missing, and the others answer', async () => {
    const runId = await ended(await start('left'));
    const asking = await start('alone', { plan: flaky({ fail_times: 5, error_code: 'auth' }) });
    await untilAsked(asking);
    await stopWorker();
    expect((await world.ask('GET', `/v1/runs/${asking}/steps`)).status).toBe(200);
    expect((await world.ask<{ failures: [] }>('GET', `/v1/runs/${asking}/failures`)).body.failures).toHaveLength(1);
    const trace = await world.ask<{ detail: string }>('GET', `/v1/runs/${asking}/trace`);
    expect(trace).toMatchObject({ status: 503, body: { detail: expect.stringContaining('secondwind worker') } });
    expect((await world.ask('GET', `/v1/runs/${runId}/trace`)).body).toMatchObject({
      trace: [{ status: 'finalized' }],
    });
    stopWorker = await world.startWorker();
  });

  it('without a worker, the limit of a run that is not prepared yet is null and not zeros', async () => {
    await stopWorker();
    const runId = world.newRunId('unprepared');
    await world.client.workflow.start(WORKFLOW_TYPE.agentRun, {
      workflowId: workflowIdOfRun(runId),
      taskQueue: world.taskQueue,
      args: [{ agent: 'demo', goal: 'wait for a worker' }],
    });
    expect((await world.ask('GET', `/v1/runs/${runId}`)).body).toMatchObject({ state: 'running', bound: null });
    stopWorker = await world.startWorker();
    await ended(runId);
    expect((await world.ask('GET', `/v1/runs/${runId}`)).body).toMatchObject({ bound: { steps: expect.any(Number) } });
  });
});
