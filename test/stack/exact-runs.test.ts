/**
 * 200 runs whose ids, tool names, object keys and values are drawn from all secret formats: their tools get byte-equal inputs,
 * and they end like twins of plain words. Real Temporal, real Postgres.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { echoAgents, type Received, secretRun, type SecretRun } from '../support/secret-runs.ts';
import { openRunWorld, type RunWorld } from '../support/run-world.ts';

const RUNS = 200;
const AT_ONCE = 10;

const received: Received[] = [];
let world: RunWorld;
beforeAll(async () => {
  world = await openRunWorld(echoAgents(received));
  await world.startWorker();
}, 120_000);
afterAll(() => world.close());

async function live({ request }: SecretRun) {
  await world.runs.start(request);
  const { outcome, used } = await world.runs.result(request.run_id);
  return { outcome, steps: used.steps, attempts: used.attempts };
}

it(`${RUNS} runs full of secrets are exact and end like their twins`, { timeout: 600_000 }, async () => {
  const keys = new Set<string>();
  for (let first = 0; first < RUNS; first += AT_ONCE) {
    const numbers = Array.from({ length: AT_ONCE }, (_, offset) => first + offset);
    received.length = 0;
    const runs = numbers.map((index) => secretRun(index, world.newRunId('r')));
    const ends = await Promise.all(runs.map(live));
    for (const { key } of received) keys.add(key);
    for (const [offset, { inputs }] of runs.entries()) {
      const own = received.filter(({ marker }) => marker === first + offset);
      expect(own.map(({ text }) => JSON.parse(text) as unknown)).toEqual(
        inputs.map((text) => JSON.parse(text) as unknown),
      );
    }
    expect(ends).toEqual(await Promise.all(numbers.map((index) => live(secretRun(index, world.newRunId('t'), true)))));
  }
  expect(keys.size).toBe(RUNS * 3);
});
