import { z } from 'zod';
import { SCHEMAS } from '../schemas/all-schemas.ts';
import type { HttpClient } from '../../client/http/http-client.ts';
import { CAP } from '../../protocol/caps.ts';
import { DEFAULT_POLICY } from '../../protocol/policy.ts';

/** A tool of the server: what a model reads of it, what it takes, and which api it goes through. */
export interface McpToolDefinition {
  name: string;
  description: string;
  input: z.ZodObject;
  readOnly: boolean;
  call(client: HttpClient, input: Record<string, unknown>, signal: AbortSignal): Promise<object>;
}

/** Held to the schema once more by its own definition, so that `call` has types where the table has none. */
function tool<Shape extends z.ZodRawShape>(definition: {
  name: string;
  description: string;
  input: z.ZodObject<Shape>;
  readOnly: boolean;
  call(client: HttpClient, input: z.output<z.ZodObject<Shape>>, signal: AbortSignal): Promise<object>;
}): McpToolDefinition {
  return {
    ...definition,
    call: (client, input, signal) => definition.call(client, definition.input.parse(input), signal),
  };
}

const name = z.string().min(1).max(CAP.nameChars);
const content = z.string().min(1).max(CAP.textChars);
const agent = name.optional().describe('Whose lessons count beside those for all');
const report = SCHEMAS.FailureReport.shape;
const lesson = SCHEMAS.ReflectionRequest.shape;
const loop = SCHEMAS.LoopReport.shape;

type Reflections = z.infer<typeof SCHEMAS.Reflections>;

const seenBefore = tool({
  name: 'seen_before',
  description: 'Whether an error was met before, in any run. Ask before you try the same again.',
  input: z.strictObject({
    error_type: name.describe('The type of the error, for example TimeoutError'),
    content: content.describe('The error message'),
    agent,
  }),
  readOnly: true,
  call: async ({ api }, query, signal) =>
    (await api.ask<object>('GET', '/v1/reflections/seen', { query, signal })).body,
});

const getGuidance = tool({
  name: 'get_guidance',
  description: 'Lessons of earlier runs that are near to an error or a situation, the best match first.',
  input: z.strictObject({
    content: content.describe('The error message, or what you are about to do'),
    error_type: name.optional().describe('Only lessons of this type of error'),
    agent,
    limit: z.int().min(1).max(20).optional().describe('So many at most; 5 unless told'),
  }),
  readOnly: true,
  call: async ({ api }, { content: similar_to, limit = 5, ...query }, signal) => {
    const asked = { query: { ...query, similar_to, limit }, signal };
    const { reflections } = (await api.ask<Reflections>('GET', '/v1/reflections', asked)).body;
    return { guidance: reflections.map((found) => `- ${found.content}`).join('\n'), lessons: reflections };
  },
});

const reportFailure = tool({
  name: 'report_failure',
  description:
    'Report a failure of your own run as soon as it happens. The answer says whether it was seen before, what the next ' +
    'attempt should know (guidance), and from the third time on whether to ask a person or to give up (escalation).',
  input: z.strictObject({
    run_id: report.run_id.describe('An id of your own run, the same in every report'),
    step_id: report.step_id.describe('The number of the step that failed'),
    signal_type: report.signal_type.describe('What kind of failure'),
    message: report.message.describe('The error message'),
    tool_name: report.tool_name.describe('The tool that failed'),
    error_code: report.error_code.describe('A short code, for example HTTP_503'),
    phase: report.phase.describe('The part of the work, for example plan or test'),
    severity: report.severity,
    query: report.query.describe('Of a retrieval: what was looked for'),
    chunk_ids: report.chunk_ids.describe('Of a retrieval: what was found'),
    attempted_action: report.attempted_action,
    context_refs: report.context_refs,
    idempotency_key: name.optional().describe('The same key is the same failure, however often it is reported'),
  }),
  readOnly: false,
  call: async ({ api }, { idempotency_key: idempotencyKey, ...body }, signal) =>
    (await api.ask<object>('POST', '/v1/failures', { body, idempotencyKey, signal })).body,
});

const completeLoop = tool({
  name: 'complete_loop',
  description:
    'Report a finished pass (loop) with your own review of it, and learn whether to run it again. Do what the decision ' +
    'says: after "finalize" stop, after "rerun" go on under new_loop_id.',
  // No override and no higher limit: whoever runs against a limit does not lift it.
  input: z.strictObject({
    loop_id: loop.loop_id.describe('The pass that has ended; the first has a name of yours, the next new_loop_id'),
    reflection_result: loop.reflection_result.describe(
      'Your review: scores from 0 to 1; leave it out for runs of this server',
    ),
    orchestrator_persona: loop.orchestrator_persona,
    max_reruns: z
      .int()
      .min(0)
      .max(DEFAULT_POLICY.reruns.max_reruns)
      .optional()
      .describe('With the first report: fewer passes than the server allows'),
  }),
  readOnly: false,
  call: ({ guards }, done, signal) => guards.completeLoop({ ...done, reflection_status: 'done' }, { signal }),
});

const recordReflection = tool({
  name: 'record_reflection',
  description:
    'Keep a lesson for later runs: what went wrong and what helped. It is kept when it changed what you did.',
  input: z.strictObject({
    error_type: lesson.error_type.describe('The type of the error'),
    content: lesson.content.describe('The lesson, in a sentence or two'),
    context: lesson.context.describe('Where it came from'),
    query: lesson.query.describe('What you were asked to do'),
    iteration: lesson.iteration.describe('Which attempt this was'),
    quality_delta: lesson.quality_delta.describe('How much better the outcome became'),
    changed_behavior: lesson.changed_behavior.describe('Whether you did something else because of it'),
    agent: lesson.agent.describe('Keep it for this agent only'),
    scope: lesson.scope,
  }),
  readOnly: false,
  call: async ({ api }, body, signal) => (await api.ask<object>('POST', '/v1/reflections', { body, signal })).body,
});

export const MCP_TOOLS: readonly McpToolDefinition[] = [
  seenBefore,
  getGuidance,
  reportFailure,
  completeLoop,
  recordReflection,
];
