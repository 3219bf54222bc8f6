import { z } from 'zod';
import { waitsFor } from '../core/run/given-plan.ts';
import { pointersIn } from '../core/run/pointers.ts';
import type { RequestProblem } from '../protocol/run.ts';
import type { Json } from '../protocol/json.ts';
import type { Plan, PlanStep } from '../protocol/schemas/plan.ts';
import type { Tool } from './define-tool.ts';
import { problemsOf, suggestion } from './problems.ts';

/** Everything about a plan that can be known before it runs, so that a bad one makes no run. */
export function checkPlan(plan: Plan, tools: readonly Tool[], root = '$.plan'): RequestProblem[] {
  const named = new Map(tools.map((tool) => [tool.name, tool]));
  const problems = [...checkIds(plan, root), ...checkTools(plan, named, root)];
  if (problems.length > 0) return problems;
  const order = checkOrder(plan, root);
  return order.length > 0 ? order : checkPointers(plan, root);
}

function checkIds(plan: Plan, root: string): RequestProblem[] {
  const ids = plan.steps.map((step) => step.id);
  return plan.steps.flatMap((step, index) => {
    const problems: RequestProblem[] = [];
    if (step.id !== undefined && ids.indexOf(step.id) !== index) {
      problems.push({ path: `${root}.steps[${index}].id`, message: `the id ${step.id} is taken by an earlier step` });
    }
    for (const [position, id] of (step.after ?? []).entries()) {
      if (!ids.includes(id)) {
        const known = ids.filter((candidate) => candidate !== undefined);
        const path = `${root}.steps[${index}].after[${position}]`;
        problems.push({ path, message: `no step has the id ${id}${suggestion(id, known)}` });
      }
    }
    return problems;
  });
}

function checkTools(plan: Plan, tools: ReadonlyMap<string, Tool>, root: string): RequestProblem[] {
  return plan.steps.flatMap((step, index) => {
    const at = `${root}.steps[${index}]`;
    const tool = tools.get(step.tool);
    if (tool === undefined) {
      const message = `no tool named ${step.tool}${suggestion(step.tool, [...tools.keys()])}`;
      return [{ path: `${at}.tool`, message }];
    }
    // With a pointer inside, the input is complete only when the pointer is resolved: the tool's activity checks it.
    if (pointersIn(step.input).length > 0) return problemsOfOutputSchema(step.output_schema, at);
    return [...problemsOfOutputSchema(step.output_schema, at), ...problemsOfInput(tool, step.input, `${at}.input`)];
  });
}

/** A schema with asynchronous checks cannot be asked here; the tool's activity asks it before the tool runs. */
function problemsOfInput(tool: Tool, input: Json, path: string): RequestProblem[] {
  try {
    const parsed = tool.input.safeParse(input);
    return parsed.success ? [] : problemsOf(parsed.error, path);
  } catch {
    return [];
  }
}

/** A schema that cannot be understood would be found out only after the tool has run. */
function problemsOfOutputSchema(schema: PlanStep['output_schema'], at: string): RequestProblem[] {
  if (schema === undefined) return [];
  try {
    z.fromJSONSchema(schema);
    return [];
  } catch (error) {
    const message = `cannot be used as a JSON Schema: ${error instanceof Error ? error.message : 'unknown error'}`;
    return [{ path: `${at}.output_schema`, message }];
  }
}

function checkOrder(plan: Plan, root: string): RequestProblem[] {
  const waits = waitsFor(plan);
  const done = new Set<number>();
  for (let before = -1; done.size > before;) {
    before = done.size;
    waits.forEach((earlier, index) => {
      if (earlier.every((position) => done.has(position))) done.add(index);
    });
  }
  const stuck = plan.steps.findIndex((_, index) => !done.has(index));
  if (stuck === -1) return [];
  return [{ path: `${root}.steps[${stuck}].after`, message: 'waits for itself in a circle; break the circle' }];
}

/** A `$step` must name a step that is surely done by then: one that this step waits for, directly or not. */
function checkPointers(plan: Plan, root: string): RequestProblem[] {
  const waits = waitsFor(plan);
  const ancestors = (index: number, seen = new Set<number>()): Set<number> => {
    for (const earlier of waits[index] ?? []) {
      if (seen.has(earlier)) continue;
      seen.add(earlier);
      ancestors(earlier, seen);
    }
    return seen;
  };
  return plan.steps.flatMap((step, index) => {
    const pointers = pointersIn(step.input, `${root}.steps[${index}].input`);
    const before = pointers.length === 0 ? new Set<number>() : ancestors(index);
    return pointers
      .filter((pointer) => pointer.kind === '$step')
      .filter((pointer) => !before.has(plan.steps.findIndex((candidate) => candidate.id === pointer.id)))
      .map((pointer) => ({
        path: pointer.path,
        message: `$step ${pointer.id} names no earlier step; name one that this step waits for`,
      }));
  });
}
