/**
 * A real Postgres that is stopped while runs are under way, and started again. Temporal stays up. How long it is away:
 * SECONDWIND_TEST_AWAY_SECONDS, by default 20.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../src/define/define-agent.ts';
import { defineTool } from '../../src/define/define-tool.ts';
import { ToolError } from '../../src/define/tool-error.ts';
import type { ArchivedStep } from '../../src/protocol/records.ts';
import type { RunStatus } from '../../src/protocol/run.ts';
import { type ApiWorld, openApiWorld } from '../support/api-world.ts';
import { eventually } from '../support/eventually.ts';
import { type OwnPostgres, startOwnPostgres } from '../support/own-postgres.ts';

const AWAY_MS = Number(process.env['SECONDWIND_TEST_AWAY_SECONDS'] ?? 20) * 1_000;
/** Runs with outputs of 20 KB, and runs whose attempts fail. */
const [COPYING, FAILING] = [20, 10];
const TIMEOUT_MS = AWAY_MS + 150_000;
const SAVED = { records: 0, outputs: 0, archive: false };

let postgres: OwnPostgres;
let world: ApiWorld;
let begun = 0;
/** Stops the worker of a test that failed half-way. */
let stopWorker = async (): Promise<void> => undefined;
let gate = newGate();

function newGate(): { promise: Promise<void>; open: () => void } {
  let open = (): void => undefined;
  const promise = new Promise<void>((resolve) => (open = resolve));
  return { promise, open };
}

const large = (key: string): string => `${key} ${'x'.repeat(20_000)}`;
const pass = async (): Promise<void> => {
  begun += 1;
  await gate.promise;
};

const agent = defineAgent({
  name: 'large',
  tools: [
    defineTool({
      name: 'large.output',
      effect: 'side_effect',
      input: z.object({}),
      output: z.string(),
      run: async (_input, { idempotencyKey }) => {
        await pass();
        return large(idempotencyKey);
      },
    }),
    defineTool({
      name: 'large.copy',
      effect: 'read',
      input: z.object({ text: z.string() }),
      output: z.string(),
      run: ({ text }) => `copy of ${text}`,
    }),
    defineTool({
      name: 'fails.twice',
      effect: 'read',
      input: z.object({}),
      output: z.string(),
      run: async (_input, { attempt, idempotencyKey }) => {
        if (attempt === 1) await pass();
        if (attempt <= 2) throw new ToolError('the service is away', { category: 'server_error', code: 'HTTP_503' });
        return idempotencyKey;
      },
    }),
  ],
});

const COPY = {
  steps: [
    { id: 'make', phase: 'make', tool: 'large.output', input: {} },
    { phase: 'copy', tool: 'large.copy', input: { text: { $step: 'make' } } },
  ],
};
const FAIL = { steps: [{ phase: 'work', tool: 'fails.twice', input: {} }] };

beforeAll(async () => {
  postgres = await startOwnPostgres();
  world = await openApiWorld([agent], {}, postgres.databaseUrl);
});
afterAll(async () => {
  gate.open();
  await world.close();
  await postgres.close();
});

afterEach(() => stopWorker());

async function startRuns(count: number, name: string, plan: unknown): Promise<string[]> {
  const before = begun;
  const ids = Array.from({ length: count }, () => world.newRunId(name));
  await Promise.all(
    ids.map(async (run_id) => {
      const body = { agent: 'large', goal: 'keep', run_id, plan, policy: { retry: { base_ms: 100 } } };
      const { status } = await world.ask('POST', '/v1/runs', { body });
      expect(status).toBe(201);
    }),
  );
  await eventually(
    () => begun - before,
    (tools) => tools === count,
  );
  return ids;
}

const statusOf = async (id: string): Promise<RunStatus> => (await world.ask<RunStatus>('GET', `/v1/runs/${id}`)).body;
const statusOfAll = (ids: string[]): Promise<RunStatus[]> => Promise.all(ids.map(statusOf));

/** The outputs of a run's steps, as anybody can read them. */
async function outputsOf(id: string): Promise<(string | number)[]> {
  const archived = await world.store.archivedRuns.get(id);
  const { steps } = (archived?.summary ?? { steps: [] }) as { steps: ArchivedStep[] };
  return Promise.all(
    steps.map(async ({ artifact_id }) => {
      const answer = await world.fetch(`/v1/artifacts/${artifact_id}`);
      return answer.status === 200 ? ((await answer.json()) as string) : answer.status;
    }),
  );
}

const untilSaved = (ids: string[]): Promise<RunStatus[]> =>
  eventually(
    () => statusOfAll(ids),
    (all) => all.every(({ unsaved }) => JSON.stringify(unsaved) === JSON.stringify(SAVED)),
    { timeoutMs: 90_000, intervalMs: 200 },
  );

describe(`a Postgres that is away for ${AWAY_MS / 1_000} s`, () => {
  it(
    `a Postgres that is away for ${AWAY_MS / 1_000} s loses nothing of ${COPYING + FAILING} runs: outputs, records and archives are there afterwards`,
    async () => {
      stopWorker = await world.startWorker();
      const copying = await startRuns(COPYING, 'copy', COPY);
      const failing = await startRuns(FAILING, 'fail', FAIL);
      await postgres.stop();
      const stoppedAt = Date.now();
      gate.open();

      const why = expect.stringMatching(/^Postgres at .* cannot be reached/) as string;
      // Runs that need no large output end meanwhile, tell their outcome, and say what is not saved.
      const results = await Promise.all(failing.map((id) => world.runs.result(id)));
      console.log(
        `the last of ${failing.length} runs told its result ${Date.now() - stoppedAt} ms after Postgres stopped`,
      );
      expect(results.map(({ outcome, used, unsaved }) => [outcome, used.attempts, unsaved])).toEqual(
        failing.map(() => ['completed', 3, { records: 2, outputs: 1, archive: true, why }]),
      );
      for (const status of await statusOfAll(failing)) {
        expect(status).toMatchObject({ state: 'ended', outcome: 'completed', unsaved: { records: 2, archive: true } });
      }
      // The others wait inside their attempt, and say so.
      for (const id of copying) {
        const status = await eventually(
          () => statusOf(id),
          ({ why }) => why.includes('store'),
        );
        expect(status).toMatchObject({
          state: 'running',
          why: 'Waiting for the store to save the output of step 1.',
          unsaved: { records: 0, outputs: 1, archive: false },
        });
      }
      // A name that only the store can reserve is refused, with what to do.
      const named = { agent: 'large', goal: 'keep', plan: FAIL, loop_id: world.newRunId('loop') };
      const refused = await world.ask('POST', '/v1/runs', { body: named });
      expect(refused).toMatchObject({ status: 503, body: { detail: expect.stringMatching(/Postgres.*try again/i) } });
      expect(refused.headers.get('retry-after')).toBe('2');

      await sleep(Math.max(0, stoppedAt + AWAY_MS - Date.now()));
      await postgres.start();
      const startedAt = Date.now();
      const copied = await Promise.all(copying.map((id) => world.runs.result(id)));
      expect(copied.map(({ outcome, used }) => [outcome, used.attempts])).toEqual(copying.map(() => ['completed', 2]));
      await untilSaved([...copying, ...failing]);
      console.log(
        `everything of ${COPYING + FAILING} runs was saved ${Date.now() - startedAt} ms after Postgres was back`,
      );

      for (const id of copying) {
        const [made = '', copy] = await outputsOf(id);
        expect(made).toMatch(/x{20000}$/);
        expect(copy).toBe(`copy of ${made}`);
      }
      for (const id of failing) {
        expect(await outputsOf(id)).toHaveLength(1);
        const records = await world.store.records.forRun(id);
        expect(records.map(({ failure_id }) => failure_id)).toEqual([1, 2].map((attempt) => `${id}:s1:a${attempt}:f0`));
        expect((await world.runs.result(id)).unsaved).toEqual(SAVED);
      }
    },
    TIMEOUT_MS,
  );

  it(
    `a Postgres that is away for ${AWAY_MS / 1_000} s and whose worker stops meanwhile loses no output either: it travels in the history`,
    async () => {
      gate = newGate();
      stopWorker = await world.startWorker();
      const [id = ''] = await startRuns(1, 'carried', COPY);
      await postgres.stop();
      gate.open();
      await eventually(
        () => statusOf(id),
        ({ why }) => why.includes('save the output of step 1'),
      );
      await stopWorker();
      stopWorker = await world.startWorker();
      // The effect is not repeated, nobody is asked, and the next step waits for the store to read anything.
      const status = await eventually(
        () => statusOf(id),
        ({ why }) => why.includes('read the input of step 2'),
      );
      expect(status).toMatchObject({ state: 'running', step_id: 2, unsaved: { outputs: 1 } });
      await postgres.start();
      expect(await world.runs.result(id)).toMatchObject({ outcome: 'completed', used: { attempts: 2 } });
      await untilSaved([id]);
      const [made = '', copy] = await outputsOf(id);
      expect(copy).toBe(`copy of ${made}`);
    },
    TIMEOUT_MS,
  );
});
