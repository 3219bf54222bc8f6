/** Shared by the tests of guards: reports, a second client, and a simulated end of Temporal's retention. */
import { readFileSync } from 'node:fs';
import { expect, inject } from 'vitest';
import { GuardRefusedError } from '../../src/client/guard-errors.ts';
import type { TemporalGuards } from '../../src/client/temporal/temporal-guards.ts';
import type { GuardPolicy } from '../../src/core/guardrails/guard-state.ts';
import type { GuardProblem } from '../../src/core/guardrails/refusal.ts';
import type { LoopReport, ReviewReport } from '../../src/core/guardrails/loop-report.ts';
import { DEFAULT_POLICY } from '../../src/protocol/policy.ts';
import { createWorker } from '../../src/worker/create-worker.ts';
import { nativeConnection } from './connections.ts';
import type { RunWorld } from './run-world.ts';
import { uniqueTaskQueue, workflowBundlePath } from './stack.ts';

export const LOW: ReviewReport = { alignment_score: 0.7, drift_score: 0.3 };
export const GOOD: ReviewReport = { alignment_score: 0.9, drift_score: 0.1 };

export const report = (loopId: string, review: ReviewReport = LOW, more: Partial<LoopReport> = {}): LoopReport => ({
  loop_id: loopId,
  reflection_status: 'done',
  reflection_result: review,
  ...more,
});

/** Fatigue never ends a family, so that only the rerun limit does. */
export const TIRELESS: GuardPolicy = {
  ...DEFAULT_POLICY,
  fatigue: { ...DEFAULT_POLICY.fatigue, base_increment: 0 },
};

export const guardsOf = (world: RunWorld, policy: GuardPolicy = DEFAULT_POLICY): TemporalGuards =>
  world.clientWith({ guards: { policy } }).guards;

/** A name of its own, because families belong to the whole namespace. */
export const newFamily = (world: RunWorld, name: string): string => `loop_${world.newRunId(name)}`;

export async function refusalOf(work: Promise<unknown>): Promise<GuardProblem> {
  const error: unknown = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(GuardRefusedError);
  return (error as GuardRefusedError).problem;
}

/**
 * A worker whose store archives a guard but never confirms it: the guard has ended and is archived, but its workflow is
 * still open. Only such a workflow can be deleted at once; a closed one waits up to a minute for the server's queues.
 */
export async function startUnheardWorker(
  world: RunWorld,
  taskQueue = uniqueTaskQueue(),
): Promise<{ taskQueue: string; stop: () => Promise<void> }> {
  const { archivedGuards } = world.store;
  const unheard = async (guard: Parameters<typeof archivedGuards.put>[0]): Promise<never> => {
    await archivedGuards.put(guard);
    throw new Error('the answer of the store was lost');
  };
  const worker = await createWorker({
    connection: await nativeConnection(),
    namespace: inject('namespace'),
    registry: world.registry,
    store: { ...world.store, archivedGuards: { ...archivedGuards, put: unheard } } as RunWorld['store'],
    taskQueue,
    workflowBundlePath: workflowBundlePath(),
  });
  const running = worker.run();
  const stop = async (): Promise<void> => {
    worker.shutdown();
    await running;
  };
  return { taskQueue, stop };
}

/** Deletes a workflow, as at the end of Temporal's retention. */
export async function forget(world: RunWorld, workflowId: string): Promise<void> {
  const { client } = world;
  await client.workflowService.deleteWorkflowExecution({
    namespace: client.options.namespace,
    workflowExecution: { workflowId },
  });
  const known = () =>
    client.workflow
      .getHandle(workflowId)
      .describe()
      .then(
        () => true,
        () => false,
      );
  await expect.poll(known, { timeout: 20_000, interval: 50 }).toBe(false);
}

type Flags = Pick<LoopReport, 'override_fatigue' | 'override_max_reruns' | 'override_by'>;
export interface FamilyVector {
  family: string;
  max_reruns: number;
  loops: (ReviewReport & Flags & { loop_id: string; expect: Record<string, unknown> })[];
}

export const readFamilies = (): FamilyVector[] =>
  JSON.parse(readFileSync(new URL('../vectors/families.json', import.meta.url), 'utf8')) as FamilyVector[];
