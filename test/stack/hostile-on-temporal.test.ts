/**
 * The seeds of `secondwind simulate` on a real Temporal and Postgres: what the simulator says of a hostile run is what
 * happens. Waits are short and people speak only when asked, so that no clock decides. Lost workers are left out, since no
 * tool can bring them about: test/kill shows those.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { workflowIdOfRun } from '../../src/protocol/ids.ts';
import type { RunResult } from '../../src/protocol/run.ts';
import { createHostileAgents } from '../../src/testing/simulator/hostile/agents.ts';
import { runScene } from '../../src/testing/simulator/hostile/run-scene.ts';
import { drawReplies } from '../../src/testing/simulator/hostile/people.ts';
import { portable } from '../support/portable.ts';
import { drawScene, type Scene } from '../../src/testing/simulator/hostile/scene.ts';
import { openRunWorld, type RunWorld } from '../support/run-world.ts';
import type { RunEnd } from '../../src/client/views.ts';

const RUNS = 50;
const AT_ONCE = 10;
/** Longer ones show nothing more and cost seconds each. */
const MOST_CALLS = 40;

let world: RunWorld;
beforeAll(async () => {
  world = await openRunWorld(createHostileAgents((seed) => portable(drawScene(seed))));
  await world.startWorker();
});
afterAll(() => world.close());

it(`${RUNS} hostile runs end as the simulator says`, { timeout: 180_000 }, async () => {
  const lived = await shortScenes();
  const got: unknown[] = [];
  const left = [...lived];
  const liveOn = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      got.push({ seed: next.scene.seed, ...ending(await liveOnTemporal(next.scene)) });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, liveOn));
  const expected = lived.map(({ scene, result }) => ({ seed: scene.seed, ...ending(result) }));
  expect(got.sort(bySeed)).toEqual(expected.sort(bySeed));
  // Fifty runs that all went the same way would show little.
  const outcomes = new Set(expected.map(({ outcome }) => outcome));
  expect([...outcomes].sort()).toEqual(['budget_exhausted', 'cancelled', 'completed', 'finalized', 'system_error']);
  expect(expected.some(({ loops }) => (loops ?? 0) > 2)).toBe(true);
});

async function shortScenes(): Promise<{ scene: Scene; result: RunResult }[]> {
  const found: { scene: Scene; result: RunResult }[] = [];
  for (let seed = 1; found.length < RUNS; seed += 1) {
    const drawn = drawScene(seed);
    // People of a sub-run are asked elsewhere: test/stack/sub-runs shows those.
    if (drawn.character.asks) continue;
    const scene = portable(drawn);
    const { result, used } = await runScene(scene);
    if (used.attempts + used.model_calls <= MOST_CALLS) found.push({ scene, result });
  }
  return found;
}

async function liveOnTemporal(scene: Scene): Promise<RunEnd> {
  const runId = world.newRunId(`hostile-${scene.seed}`);
  const handle = world.client.workflow.getHandle(workflowIdOfRun(runId));
  await world.runs.start({ ...scene.request, run_id: runId });
  const ended = world.runs.result(runId);
  if (scene.character.people === 'silent') return ended;
  const answered = new Set<string>();
  for (;;) {
    const { pending_question: question } = await world.runs.get(runId);
    if (question !== undefined && !answered.has(question.question_id)) {
      answered.add(question.question_id);
      // The second of two answers may find that the first has ended the run.
      for (const { type, body } of drawReplies(scene, question)) await handle.signal(type, body).catch(() => undefined);
    }
    const result = await Promise.race([ended, new Promise<null>((resolve) => setTimeout(resolve, 100, null))]);
    if (result !== null) return result;
  }
}

const ending = ({ outcome, reason, loops, used }: RunEnd) => ({
  outcome,
  reason,
  loops,
  steps: used.steps,
  attempts: used.attempts,
  model_calls: used.model_calls,
  tokens: used.tokens,
  cost_micro_usd: used.cost_micro_usd,
});

const bySeed = (one: unknown, other: unknown): number =>
  (one as { seed: number }).seed - (other as { seed: number }).seed;
