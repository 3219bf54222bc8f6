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
import { problemsOf } from './problems.ts';

const isFunction = (value: unknown): boolean => typeof value === 'function';
const price = z.int({ error: 'expected whole micro-USD for a million tokens: $0.15 is 150000' }).min(0);

const shape = {
  name: z.string().regex(ID_PATTERN, {
    error: 'a name is a letter or digit, then letters, digits, . _ : or -, 128 at most',
  }),
  instructions: z.string().min(1).optional(),
  model: z
    .custom<unknown>((value) => (typeof value === 'string' && value !== '') || isRecord(value), {
      error: 'expected a name, { base_url, model } or a model object of the AI SDK',
    })
    .optional(),
  output: z
    .custom<unknown>((value) => isRecord(value) && isFunction(value['safeParse']), { error: 'expected a zod schema' })
    .optional(),
  maxOutputTokens: z.int().min(1).optional(),
  prices: z
    .record(z.string(), z.strictObject({ input: price, output: price, cached_input: price.optional() }))
    .optional(),
  tools: z.array(z.custom<unknown>(isTool, { error: 'expected what defineTool gives' }), {
    error: 'expected a list of tools, [] for none',
  }),
  plan: planSchema.optional(),
  planner: z
    .custom<unknown>((value) => isRecord(value) && isFunction(value['choose']), {
      error: 'expected an object with choose(view)',
    })
    .optional(),
  review: z.custom<unknown>(isFunction, { error: 'expected a function, such as modelReviewer()' }).optional(),
  policy: policyPatchSchema.optional(),
  secrets: z.array(z.string()).optional(),
} satisfies { [Key in keyof AgentDefinition]-?: z.ZodType };
const definitionSchema = z.strictObject(shape);

/** Everything about a definition that cannot be meant: an unknown key is told with the nearest known one. */
export function problemsOfAgent(definition: unknown): RequestProblem[] {
  const parsed = definitionSchema.safeParse(definition);
  const problems = [
    ...(parsed.success ? [] : problemsOf(parsed.error, '$', knownKeys)),
    ...problemsTogether(definition),
  ];
  const { plan, tools } = definition as AgentDefinition;
  // Only a plan and tools that are each well formed can be compared.
  return problems.length > 0 || plan === undefined ? problems : checkPlan(plan, tools);
}

/** What each part alone does not show. */
function problemsTogether(definition: unknown): RequestProblem[] {
  if (!isRecord(definition)) return [];
  const { tools, instructions, planner } = definition;
  const names = Array.isArray(tools) ? tools.map((tool: unknown) => (isRecord(tool) ? tool['name'] : undefined)) : [];
  const twice = names.findIndex((name, index) => name !== undefined && names.indexOf(name) !== index);
  return [
    ...(twice === -1 ? [] : [{ path: `$.tools[${twice}]`, message: `two tools are named ${String(names[twice])}` }]),
    ...(instructions !== undefined && planner !== undefined
      ? [{ path: '$.planner', message: 'instructions are for a model; leave them or the planner out' }]
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
