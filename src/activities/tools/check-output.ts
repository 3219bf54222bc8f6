import { z } from 'zod';
import { DEFAULT_MAX_OUTPUT_BYTES, type Tool } from '../../define/define-tool.ts';
import { problemsOf } from '../../define/zod-problems.ts';
import { type Json, findTooDeepPath } from '../../protocol/json.ts';
import { CAP } from '../../protocol/caps.ts';
import type { CallFailed, CallSucceeded, ToolCallRequest } from '../../protocol/tools.ts';
import { pauseAfter, runTask } from '../../threads/run-task.ts';
import { packOutput } from '../carried-output.ts';
import { saveWithRetries } from './artifacts.ts';
import type { AttemptNotes } from './attempt-notes.ts';
import type { ToolEnvironment } from './tool-environment.ts';
import type { BuildFailure } from './failed-attempt.ts';
import { chunkIdsOf, findRetrievalProblem } from './retrieval.ts';

type Problem = { path: string; message: string };
/** What a schema made of an output, as JSON text: a large output is an object only where a schema needs one. */
type Checked = { ok: true; text: string } | { ok: false; problems: Problem[] };

/** Checks that the output fits the tool's schema, the plan's expectations and the size cap, and then stores it. */
export async function checkOutput(
  tool: Tool,
  request: ToolCallRequest,
  value: unknown,
  env: ToolEnvironment,
  notes: AttemptNotes,
  fail: BuildFailure,
): Promise<CallFailed | Omit<CallSucceeded, 'duration_ms'>> {
  // The tool returned, so a side effect is done. If its output is unusable, running it again would apply it twice.
  const certainty = tool.effect === 'side_effect' ? 'done' : 'failed';
  const violated = (problems: Problem[]): CallFailed =>
    fail({ category: 'contract_violation', error_code: 'INVALID_OUTPUT', certainty }, joinProblems(problems), problems);
  const tooLarge = (bytes: number, max_bytes: number): CallFailed =>
    fail(
      { category: 'unknown_error', error_code: 'OUTPUT_TOO_LARGE', certainty, max_bytes },
      `the output of ${tool.name} is larger than ${max_bytes} bytes (${bytes}); ask for less of it`,
    );

  const deep = findTooDeepPath(value);
  if (deep !== null) return violated([{ path: deep, message: `nested deeper than ${CAP.jsonLevels} levels` }]);
  const text = jsonText(value);
  if (text === undefined) return violated([{ path: '$', message: 'the output is not JSON' }]);
  const cap = tool.maxOutputBytes ?? DEFAULT_MAX_OUTPUT_BYTES;
  const bytes = Buffer.byteLength(text);
  if (bytes > cap) return tooLarge(bytes, cap);

  await pauseAfter(text);
  const checked = await checkSchemas(tool, request, text);
  if (!checked.ok) return violated(checked.problems);
  const found = tool.manifest.kind === 'retrieval' ? (JSON.parse(text) as Json) : null;
  const problem = found === null ? null : findRetrievalProblem(found, tool.manifest.min_confidence);
  if (problem !== null) {
    const chunk_ids = chunkIdsOf(found, env.redact);
    const how = { category: 'retrieval_failure', error_code: problem.code, certainty } as const;
    return fail({ ...how, ...(chunk_ids.length > 0 && { chunk_ids }) }, problem.message);
  }
  const allowed = request.constraints.max_output_bytes;
  const checkedBytes = Buffer.byteLength(checked.text);
  if (allowed === undefined || checkedBytes <= allowed)
    return { class: 'ok', ...(await keepOutput(checked.text, request, env)) };

  const shorter = await runTask('shortenJson', text, allowed);
  const again = shorter === null ? null : await checkSchemas(tool, request, shorter);
  if (again === null || !again.ok || Buffer.byteLength(again.text) > allowed) return tooLarge(checkedBytes, allowed);
  await keepWhole(checked.text, request, env, notes);
  return { class: 'ok', ...(await keepOutput(again.text, request, env)) };
}

/** Checks an output against the schema of the tool and, if the plan has one for the step, against that. */
export async function checkSchemas(
  tool: Tool,
  request: Pick<ToolCallRequest, 'output_schema'>,
  text: string,
): Promise<Checked> {
  const isAny = acceptsAnyJson(tool.output);
  if (isAny && request.output_schema === undefined) return { ok: true, text };
  const answer = JSON.parse(text) as Json;
  await pauseAfter(text);
  const parsed = isAny ? { success: true as const, data: answer } : await tool.output.safeParseAsync(answer);
  if (!parsed.success) return { ok: false, problems: problemsOf(parsed.error) };
  if (request.output_schema !== undefined) {
    const planned = z.fromJSONSchema(request.output_schema as Parameters<typeof z.fromJSONSchema>[0]).safeParse(answer);
    if (!planned.success) return { ok: false, problems: problemsOf(planned.error) };
  }
  if (parsed.data === answer) return { ok: true, text };
  await pauseAfter(text);
  return { ok: true, text: jsonText(parsed.data) ?? text };
}

/**
 * True for `z.json()`. The answer is JSON already, and that schema tries six alternatives for every value: on a list of
 * 10 MB it would keep the event loop busy for over a second.
 */
function acceptsAnyJson(schema: z.ZodType): boolean {
  const inner = schema instanceof z.ZodLazy ? schema.unwrap() : null;
  if (!(inner instanceof z.ZodUnion) || inner.options.length !== JSON_TYPES.length) return false;
  return inner.options.every((option, index) => {
    const { type, checks, element, valueType } = (option as z.ZodType).def as z.ZodType['def'] & Inner;
    const held = element ?? valueType;
    return type === JSON_TYPES[index] && (checks ?? []).length === 0 && (held === undefined || held === schema);
  });
}
type Inner = { element?: unknown; valueType?: unknown };
const JSON_TYPES = ['string', 'number', 'boolean', 'null', 'array', 'record'];

/** Stores the full output when a constraint made the returned one shorter, and names it in the outcome. */
async function keepWhole(
  text: string,
  request: ToolCallRequest,
  env: ToolEnvironment,
  notes: AttemptNotes,
): Promise<void> {
  const digest = await runTask('digestJson', text);
  if (!(await saveWithRetries(env, request, digest))) return;
  const { artifact_id } = digest;
  const bytes = digest.bytes.byteLength;
  notes.kept({ artifact_id, what: 'output', bytes });
  notes.log({ event: 'output_shortened', artifact_id, bytes });
}

/**
 * Keeps an output that is given as JSON text. Small outputs travel inline. The activity stores large ones, and only their id travels. When the store stays away, a
 * large one travels compressed, and a later write of the run saves it from the history. One that is too large even for that
 * goes on waiting, because it would be lost.
 */
export async function keepOutput(
  text: string,
  request: Pick<ToolCallRequest, 'step_id'>,
  env: ToolEnvironment,
): Promise<Pick<CallSucceeded, 'output' | 'artifact_id' | 'bytes' | 'inline' | 'carried' | 'unsaved'>> {
  const digest = await runTask('digestJson', text);
  const { artifact_id } = digest;
  const bytes = digest.bytes.byteLength;
  if (bytes <= CAP.inlineOutputBytes) return { output: JSON.parse(text) as Json, artifact_id, bytes, inline: true };
  const kept = { output: null, artifact_id, bytes, inline: false };
  if (await saveWithRetries(env, request, digest)) return kept;
  const carried = await packOutput(digest.bytes);
  if (carried !== null) return { ...kept, carried };
  return (await saveWithRetries(env, request, digest, CAP.uncarriedWaitMs)) ? kept : { ...kept, unsaved: true };
}

export function asJson(value: unknown): Json | undefined {
  const text = jsonText(value);
  return text === undefined ? undefined : (JSON.parse(text) as Json);
}

function jsonText(value: unknown): string | undefined {
  if (value === undefined) return 'null';
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

export const joinProblems = (problems: Problem[]): string =>
  problems
    .slice(0, 3)
    .map((problem) => `${problem.path}: ${problem.message}`)
    .join('; ');
