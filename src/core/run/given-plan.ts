import type { Plan } from '../../protocol/schemas/plan.ts';
import type { PlannedCall } from './batch.ts';
import type { RunState } from './state.ts';

/** For each step the positions of the steps it waits for; computed once a plan, because plans never change. */
const waitsForOf = new WeakMap<Plan, number[][]>();

export function waitsFor(plan: Plan): number[][] {
  const known = waitsForOf.get(plan);
  if (known !== undefined) return known;
  const positions = new Map(plan.steps.map((step, index) => [step.id, index]));
  const computed = plan.steps.map((step, index) => {
    if (step.after === undefined) return index === 0 ? [] : [index - 1];
    return step.after.map((id) => positions.get(id) ?? -1);
  });
  waitsForOf.set(plan, computed);
  return computed;
}

/** All steps whose predecessors are done, in plan order; empty when the plan is finished. */
export function nextOfPlan(state: RunState, plan: Plan): PlannedCall[] {
  const done: boolean[] = plan.steps.map(() => false);
  for (const { plan_index: index } of state.loop.results) if (index !== null) done[index] = true;
  const isDone = (earlier: number): boolean => done[earlier] === true;
  const waits = waitsFor(plan);
  const ready: PlannedCall[] = [];
  for (let index = 0; index < plan.steps.length; index += 1) {
    const step = plan.steps[index];
    if (step === undefined || isDone(index) || !waits[index]?.every(isDone)) continue;
    ready.push({
      plan_index: index,
      phase: step.phase,
      tool: step.tool,
      input: step.input,
      output_schema: step.output_schema,
    });
  }
  return ready;
}
