import type { Plan } from '../../protocol/schemas/plan.ts';
import type { Call } from './attempts.ts';
import { makeCall } from './batch.ts';
import type { RunState } from './state.ts';

/** Caches, for each plan, the positions of the steps that each step waits for. Plans never change. */
const predecessors = new WeakMap<Plan, number[][]>();

export function waitsFor(plan: Plan): number[][] {
  const known = predecessors.get(plan);
  if (known !== undefined) return known;
  const positions = new Map(plan.steps.map((step, index) => [step.id, index]));
  const computed = plan.steps.map((step, index) => {
    if (step.after === undefined) return index === 0 ? [] : [index - 1];
    return step.after.map((id) => positions.get(id) ?? -1);
  });
  predecessors.set(plan, computed);
  return computed;
}

/** Returns the calls whose predecessors are done, in plan order. Empty when the plan is finished. */
export function readyCalls(state: RunState, plan: Plan): Call[] {
  const done: boolean[] = plan.steps.map(() => false);
  for (const { call } of state.loop.steps) if (call.plan_index !== null) done[call.plan_index] = true;
  const isDone = (earlier: number): boolean => done[earlier] === true;
  const waits = waitsFor(plan);
  const ready: Call[] = [];
  for (let index = 0; index < plan.steps.length; index += 1) {
    const step = plan.steps[index];
    if (step === undefined || isDone(index) || !waits[index]?.every(isDone)) continue;
    const { phase, tool, input, output_schema } = step;
    ready.push(makeCall({ plan_index: index, phase, tool, input, output_schema }));
  }
  return ready;
}
