import { z } from 'zod';
import { isRecord } from '../protocol/json.ts';
import { ID_PATTERN } from '../protocol/ids.ts';
import { policyKeysAt } from '../protocol/policy.ts';
import type { RequestProblem } from '../protocol/run.ts';
import { planSchema } from '../protocol/schemas/plan.ts';
import { policyPatchSchema } from '../protocol/schemas/policy.ts';
import type { AgentDefinition } from './define-agent.ts';
import { checkPlan } from './check-plan.ts';
import { isTool } from './define-tool.ts';
import { problemsOf } from './zod-problems.ts';

const isFunction = (value: unknown): boolean => typeof value === 'function';
const price = z.int({ error: 'expected whole micro-USD per million tokens; $0.15 is 150000' }).min(0);

const shape = {
  name: z.string().regex(ID_PATTERN, {
    error: 'expected a letter or digit, then letters, digits, ".", "_", ":" or "-", at most 128 characters',
  }),
  instructions: z.string().min(1).optional(),
  model: z
    .custom<unknown>((value) => (typeof value === 'string' && value !== '') || isRecord(value), {
      error: 'expected the name of a model, { base_url, model } or a model object of the AI SDK',
    })
    .optional(),
  output: z
    .custom<unknown>((value) => isRecord(value) && isFunction(value['safeParse']), { error: 'expected a zod schema' })
    .optional(),
  maxOutputTokens: z.int().min(1).optional(),
  prices: z
    .record(z.string(), z.strictObject({ input: price, output: price, cached_input: price.optional() }))
    .optional(),
  tools: z.array(z.custom<unknown>(isTool, { error: 'expected a tool made by defineTool' }), {
    error: 'expected a list of tools; use [] for none',
  }),
  plan: planSchema.optional(),
  planner: z
    .custom<unknown>((value) => isRecord(value) && isFunction(value['choose']), {
      error: 'expected an object with a function choose(view)',
    })
    .optional(),
  review: z.custom<unknown>(isFunction, { error: 'expected a function, such as modelReviewer()' }).optional(),
  policy: policyPatchSchema.optional(),
  secrets: z.array(z.string()).optional(),
} satisfies { [Key in keyof AgentDefinition]-?: z.ZodType };
const definitionSchema = z.strictObject(shape);

/** Returns every problem of a definition. For an unknown key it suggests the nearest known one. */
export function checkAgent(definition: unknown): RequestProblem[] {
  const parsed = definitionSchema.safeParse(definition);
  const problems = [
    ...(parsed.success ? [] : problemsOf(parsed.error, '$', knownKeys)),
    ...checkCombinations(definition),
  ];
  const { plan, tools } = definition as AgentDefinition;
  // The plan is checked against the tools only when both are valid by themselves.
  return problems.length > 0 || plan === undefined ? problems : checkPlan(plan, tools);
}

/** Checks what only two parts together show. */
function checkCombinations(definition: unknown): RequestProblem[] {
  if (!isRecord(definition)) return [];
  const { tools, instructions, planner } = definition;
  const names = Array.isArray(tools) ? tools.map((tool: unknown) => (isRecord(tool) ? tool['name'] : undefined)) : [];
  const twice = names.findIndex((name, index) => name !== undefined && names.indexOf(name) !== index);
  return [
    ...(twice === -1
      ? []
      : [{ path: `$.tools[${twice}]`, message: `two tools are named ${String(names[twice])}; rename one` }]),
    ...(instructions !== undefined && planner !== undefined
      ? [
          {
            path: '$.planner',
            message: 'an agent has either instructions for a model or a planner; remove one of them',
          },
        ]
      : []),
  ];
}

function knownKeys(path: PropertyKey[]): string[] {
  const [first] = path;
  if (first === undefined) return Object.keys(shape);
  if (first === 'prices') return ['input', 'output', 'cached_input'];
  if (first === 'plan')
    return path.length === 1 ? ['steps'] : ['id', 'phase', 'tool', 'input', 'output_schema', 'after'];
  return first === 'policy' ? policyKeysAt(path.slice(1)) : [];
}
