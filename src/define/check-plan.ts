import { z } from 'zod';
import { waitsFor } from '../core/run/given-plan.ts';
import { pointersIn } from '../core/run/pointers.ts';
import type { RequestProblem } from '../protocol/run.ts';
import type { Json } from '../protocol/json.ts';
import type { Plan, PlanStep } from '../protocol/schemas/plan.ts';
import type { Tool } from './define-tool.ts';
import { problemsOf, suggestName } from './zod-problems.ts';

/** Returns every problem of a plan that can be found before it runs, so that an invalid plan starts no run. */
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
      problems.push({
        path: `${root}.steps[${index}].id`,
        message: `an earlier step has the id ${step.id} already; choose another`,
      });
    }
    for (const [position, id] of (step.after ?? []).entries()) {
      if (!ids.includes(id)) {
        const known = ids.filter((candidate) => candidate !== undefined);
        const path = `${root}.steps[${index}].after[${position}]`;
        problems.push({ path, message: `no step has the id ${id}${suggestName(id, known)}` });
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
      const message = `no tool named ${step.tool}${suggestName(step.tool, [...tools.keys()])}`;
      return [{ path: `${at}.tool`, message }];
    }
    // An input with a pointer is complete only when the pointer is resolved, so the tool's activity checks it then.
    if (pointersIn(step.input).length > 0) return checkOutputSchema(step.output_schema, at);
    return [...checkOutputSchema(step.output_schema, at), ...checkInput(tool, step.input, `${at}.input`)];
  });
}

/** A schema with asynchronous checks throws here; the tool's activity then checks the input before the tool runs. */
function checkInput(tool: Tool, input: Json, path: string): RequestProblem[] {
  try {
    const parsed = tool.input.safeParse(input);
    return parsed.success ? [] : problemsOf(parsed.error, path);
  } catch {
    return [];
  }
}

/** Without this check an invalid schema would be noticed only after the tool has run. */
function checkOutputSchema(schema: PlanStep['output_schema'], at: string): RequestProblem[] {
  if (schema === undefined) return [];
  try {
    z.fromJSONSchema(schema);
    return [];
  } catch (error) {
    const message = `is not a usable JSON Schema: ${error instanceof Error ? error.message : 'unknown error'}`;
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
  return [
    {
      path: `${root}.steps[${stuck}].after`,
      message: 'this step waits for itself, directly or through other steps; remove one of the "after" entries',
    },
  ];
}

/** A `$step` must name a step that is certain to be done by then: one that this step waits for, directly or indirectly. */
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
        message: `$step ${pointer.id} is not a step that this step waits for; add it to "after" or name another step`,
      }));
  });
}
