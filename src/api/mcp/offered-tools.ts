import { z } from 'zod';
import { SCHEMAS } from '../schemas/all-schemas.ts';
import type { HttpClient } from '../../client/http/http-client.ts';
import { quoteFrom } from '../../core/failures/quote.ts';
import { CAP } from '../../protocol/caps.ts';
import { DEFAULT_POLICY } from '../../protocol/policy.ts';

/** A tool of the MCP server: its description for a model, its input, and its call of the API. */
export interface McpToolDefinition {
  name: string;
  description: string;
  input: z.ZodObject;
  readOnly: boolean;
  call(client: HttpClient, input: Record<string, unknown>, signal: AbortSignal): Promise<object>;
}

/** Parses the input once more with the tool's own schema, because the table of tools does not keep its type. */
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
const agent = name.optional().describe('Include lessons of this agent, in addition to those for all agents');
const report = SCHEMAS.FailureReport.shape;
const lesson = SCHEMAS.ReflectionRequest.shape;
const loop = SCHEMAS.LoopReport.shape;

type Reflections = z.infer<typeof SCHEMAS.Reflections>;

/** A lesson's own words reach a model only as a quote, so its figures are given without them. */
const withoutWords = ({
  content: _content,
  rationale: _rationale,
  context: _context,
  ...figures
}: Reflections['reflections'][number]) => figures;

const seenBefore = tool({
  name: 'seen_before',
  description:
    'Checks whether an error was seen before, in any run, also with other numbers, ids or paths. Call it before you try the same again.',
  input: z.strictObject({
    error_type: name.optional().describe('The type of the error, for example TimeoutError'),
    content: content.describe('The error message, or a part of it'),
    tool: name.optional().describe('Only failures of this tool'),
    agent,
  }),
  readOnly: true,
  call: async ({ api }, query, signal) =>
    (await api.ask<object>('GET', '/v1/reflections/seen', { query, signal })).body,
});

const getGuidance = tool({
  name: 'get_guidance',
  description: 'Returns lessons of earlier runs that are similar to an error or a situation, the best match first.',
  input: z.strictObject({
    content: content.describe('The error message, or what you are about to do'),
    error_type: name.optional().describe('Only lessons of this type of error'),
    agent,
    limit: z.int().min(1).max(20).optional().describe('The most lessons to return; default 5'),
  }),
  readOnly: true,
  call: async ({ api }, { content: similar_to, limit = 5, ...query }, signal) => {
    const asked = { query: { ...query, similar_to, limit }, signal };
    const { reflections } = (await api.ask<Reflections>('GET', '/v1/reflections', asked)).body;
    const rows = reflections.map(
      ({ content: said }) => `- ${quoteFrom('a lesson in the memory', said, CAP.lessonChars)}`,
    );
    return { guidance: rows.join('\n'), lessons: reflections.map(withoutWords) };
  },
});

const reportFailure = tool({
  name: 'report_failure',
  description:
    'Reports a failure of your own run. Call it as soon as a failure happens. The answer says whether it was seen before, what ' +
    'the next attempt should know (guidance), and from the third time on whether to ask a person or to give up (escalation).',
  input: z.strictObject({
    run_id: report.run_id.describe('An id of your own run, the same in every report'),
    step_id: report.step_id.describe('The number of the step that failed'),
    signal_type: report.signal_type.describe('What kind of failure'),
    message: report.message.describe('The error message'),
    tool_name: report.tool_name.describe('The tool that failed'),
    error_code: report.error_code.describe('A short code, for example HTTP_503'),
    phase: report.phase.describe('The part of the work, for example plan or test'),
    severity: report.severity,
    query: report.query.describe('For a retrieval: what was searched for'),
    chunk_ids: report.chunk_ids.describe('For a retrieval: what was found'),
    attempted_action: report.attempted_action,
    context_refs: report.context_refs,
    idempotency_key: name.optional().describe('Reporting the same key again counts as the same failure'),
  }),
  readOnly: false,
  call: async ({ api }, { idempotency_key: idempotencyKey, ...body }, signal) =>
    (await api.ask<object>('POST', '/v1/failures', { body, idempotencyKey, signal })).body,
});

const completeLoop = tool({
  name: 'complete_loop',
  description:
    'Reports a finished pass (loop) with your own review, and returns whether to run it again. Follow the decision: after ' +
    '"finalize" stop; after "rerun" continue with new_loop_id.',
  // Overrides and higher limits are left out, because an agent must not lift its own limits.
  input: z.strictObject({
    loop_id: loop.loop_id.describe(
      'The pass that has ended: for the first one a name of your choice, then new_loop_id',
    ),
    reflection_result: loop.reflection_result.describe(
      'Your review: scores from 0 to 1; leave it out for runs of this server',
    ),
    orchestrator_persona: loop.orchestrator_persona,
    max_reruns: z
      .int()
      .min(0)
      .max(DEFAULT_POLICY.reruns.max_reruns)
      .optional()
      .describe('With the first report only: fewer reruns than the server allows'),
  }),
  readOnly: false,
  call: ({ guards }, done, signal) => guards.completeLoop({ ...done, reflection_status: 'done' }, { signal }),
});

const recordReflection = tool({
  name: 'record_reflection',
  description:
    'Stores a lesson for later runs: what went wrong and what helped. It is stored only if it changed what you did.',
  input: z.strictObject({
    error_type: lesson.error_type.describe('The type of the error'),
    content: lesson.content.describe('The lesson, in a sentence or two'),
    context: lesson.context.describe('Where it came from'),
    query: lesson.query.describe('What you were asked to do'),
    iteration: lesson.iteration.describe('Which attempt this was'),
    quality_delta: lesson.quality_delta.describe('How much the outcome improved'),
    changed_behavior: lesson.changed_behavior.describe('Whether you did something differently because of it'),
    error_text: lesson.error_text.describe(
      'The error message. Later runs with this error, also in other words, find the lesson',
    ),
    tool_name: lesson.tool_name.describe('The tool that failed'),
    error_code: lesson.error_code.describe('A short code, for example HTTP_503'),
    agent: lesson.agent.describe('Store it for this agent only'),
    scope: lesson.scope,
  }),
  readOnly: false,
  call: async ({ api }, body, signal) => (await api.ask<object>('POST', '/v1/reflections', { body, signal })).body,
});

const openQuestions = tool({
  name: 'open_questions',
  description:
    'Returns the questions that runs ask people: the call with its input, the reason the model gave, what was tried, what it cost ' +
    'so far, what each option does, and what happens if nobody answers. Show them to a person; only a person may answer.',
  input: z.strictObject({
    run_id: report.run_id.optional().describe('Only the question of this run'),
    limit: z.int().min(1).max(50).optional().describe('The most questions to return; default 20'),
  }),
  readOnly: true,
  call: async ({ runs }, { run_id: runId, limit = 20 }, signal) => {
    if (runId === undefined) return { questions: (await runs.questions({ limit }, { signal })).questions };
    const { run_id, agent, goal, pending_question: question } = await runs.get(runId, { signal });
    return { questions: question === undefined ? [] : [{ run_id, agent, goal, ...question }] };
  },
});

export const MCP_TOOLS: readonly McpToolDefinition[] = [
  seenBefore,
  getGuidance,
  reportFailure,
  completeLoop,
  recordReflection,
  openQuestions,
];
