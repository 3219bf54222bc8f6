import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { salientLine } from '../../core/failures/index.ts';
import type { Redact } from '../../core/redaction/index.ts';
import { redactJson } from '../../core/redaction/index.ts';
import { classifyError, factsOfError } from '../../core/retry/index.ts';
import { problemsOf } from '../../define/problems.ts';
import type { Tool, ToolContext } from '../../define/define-tool.ts';
import { canonicalJson, sha256Hex } from '../../protocol/ids.ts';
import { type Json, pathTooDeep } from '../../protocol/json.ts';
import { LIMIT } from '../../protocol/limits.ts';
import type {
  CallFailed,
  CallOutcome,
  CallSucceeded,
  ReconcileOutcome,
  ToolCallRequest,
} from '../../protocol/tools.ts';
import { problemOfRetrieval } from './retrieval.ts';
import { resolveArtifacts } from './resolve-artifacts.ts';

/** What a call needs from around it; no Temporal in here, so the simulator runs tools by the same code. */
export interface ToolEnvironment {
  /** Aborted when the run is cancelled or the worker has to stop. */
  signal: AbortSignal;
  /** Why it was aborted. */
  stopped(): 'cancelled' | 'shutdown' | null;
  heartbeat(details?: Json): void;
  loadArtifact: (id: string) => Promise<Json | undefined>;
  saveArtifact: (id: string, text: string) => Promise<void>;
  redact: Redact;
  now(): number;
}

/** Runs one attempt of a tool and tells truthfully how it ended. Never throws for what the tool did. */
export async function executeTool(tool: Tool, request: ToolCallRequest, env: ToolEnvironment): Promise<CallOutcome> {
  const startedAt = env.now();
  const fail = failer(env, () => env.now() - startedAt);
  const resolved = await resolveArtifacts(request.input, env.loadArtifact).catch(() => null);
  if (resolved === null) {
    const away = { category: 'network', error_code: 'STORE_UNREACHABLE', certainty: 'not_started' } as const;
    return fail(away, 'the store is away, so the pointers of the input cannot be resolved');
  }
  if (!resolved.ok) {
    const message = `cannot resolve $artifact ${resolved.id}`;
    return fail(
      { category: 'pointer_unresolved', error_code: 'POINTER_UNRESOLVED', certainty: 'not_started' },
      message,
    );
  }
  const input = await tool.input.safeParseAsync(resolved.input);
  if (!input.success) {
    const problems = problemsOf(input.error);
    return fail(
      { category: 'invalid_input', error_code: 'INVALID_INPUT', certainty: 'not_started' },
      sentence(problems),
      problems,
    );
  }
  let changed: string | undefined;
  const context = contextOf(request, env, (text) => {
    changed = text;
  });
  const run = await withTimeout(context.signal, request.timeout_ms, (signal) =>
    tool.run(input.data, { ...context, signal }),
  );
  if (run.kind === 'timed_out') {
    const message = `${tool.name} gave no answer within ${request.timeout_ms} ms`;
    return fail({ category: 'timeout', error_code: 'TIMEOUT', certainty: 'unknown' }, message);
  }
  if (run.kind === 'threw') return outcomeOfThrown(run.error, tool, env, fail);

  const answered = await checkOutput(tool, request, run.value, env, fail);
  return answered.class === 'ok' && changed !== undefined
    ? { ...answered, changed: env.redact(changed).slice(0, LIMIT.messagePreviewChars) }
    : answered;
}

/** Asks the tool whether an attempt that gave no answer had its effect; if it cannot tell, nobody can. */
export async function reconcileTool(
  tool: Tool,
  request: ToolCallRequest,
  env: ToolEnvironment,
): Promise<ReconcileOutcome> {
  const resolved = await resolveArtifacts(request.input, env.loadArtifact).catch(() => null);
  const input = resolved?.ok ? await tool.input.safeParseAsync(resolved.input) : null;
  if (tool.reconcile === undefined || input === null || !input.success) return { verdict: 'unknown' };
  const { reconcile } = tool;
  const { data } = input;
  const asked = await withTimeout(env.signal, request.timeout_ms, (signal) =>
    reconcile(data, { idempotencyKey: request.idempotency_key, attempt: request.attempt, signal }),
  );
  const found = asked.kind === 'returned' ? asked.value : undefined;
  if (found?.verdict === 'not_done') return { verdict: 'not_done' };
  if (found?.verdict !== 'done') return { verdict: 'unknown' };
  // What it found must be what the tool would have answered; anything else proves nothing.
  const output = await tool.output.safeParseAsync(asJson(found.output));
  if (!output.success) return { verdict: 'unknown' };
  const { unsaved: _unsaved, ...kept } = await keepOutput(asJson(output.data) ?? null, env);
  return { verdict: 'done', ...kept };
}

type Failer = (
  how: Pick<CallFailed, 'category' | 'error_code' | 'certainty'> & {
    origin?: CallFailed['origin'];
    retry_after_ms?: number;
  },
  message: string,
  problems?: { path: string }[],
) => CallFailed;

const failer =
  (env: ToolEnvironment, duration: () => number): Failer =>
  (how, message, problems) => ({
    class: 'failed',
    origin: 'tool',
    ...how,
    message_preview: env.redact(salientLine(message)).slice(0, LIMIT.messagePreviewChars),
    ...(problems === undefined ? {} : { paths: problems.slice(0, 10).map((problem) => problem.path.slice(0, 120)) }),
    duration_ms: Math.max(0, duration()),
  });

function outcomeOfThrown(error: unknown, tool: Tool, env: ToolEnvironment, fail: Failer): CallOutcome {
  const stopped = env.stopped();
  const lost = { category: 'worker_lost', error_code: 'WORKER_SHUTDOWN', origin: 'infrastructure' } as const;
  if (stopped === 'shutdown') {
    return fail({ ...lost, certainty: 'unknown' }, `the worker had to stop while ${tool.name} was running`);
  }
  if (stopped === 'cancelled') return { class: 'cancelled', duration_ms: 0 };
  const facts = factsOfError(error);
  const classified = classifyError(facts, env.now());
  return fail(classified, facts.message ?? facts.name ?? 'the tool threw nothing readable');
}

async function checkOutput(
  tool: Tool,
  request: ToolCallRequest,
  value: unknown,
  env: ToolEnvironment,
  fail: Failer,
): Promise<CallSucceeded | CallFailed> {
  // It ran and answered: if that answer is unusable, running a side effect again would do it twice.
  const certainty = tool.effect === 'side_effect' ? 'unknown' : 'failed';
  const violated = (error_code: string, problems: { path: string; message: string }[]): CallFailed =>
    fail({ category: 'contract_violation', error_code, certainty }, sentence(problems), problems);

  const deep = pathTooDeep(value);
  if (deep !== null) {
    return violated('INVALID_OUTPUT', [{ path: deep, message: `nested deeper than ${LIMIT.jsonLevels} levels` }]);
  }
  const output = asJson(value);
  if (output === undefined) return violated('INVALID_OUTPUT', [{ path: '$', message: 'the output is not JSON' }]);
  const parsed = await tool.output.safeParseAsync(output);
  if (!parsed.success) return violated('INVALID_OUTPUT', problemsOf(parsed.error));
  if (request.output_schema !== undefined) {
    const planned = z.fromJSONSchema(request.output_schema as Parameters<typeof z.fromJSONSchema>[0]).safeParse(output);
    if (!planned.success) return violated('INVALID_OUTPUT', problemsOf(planned.error));
  }
  const problem = tool.manifest.kind === 'retrieval' ? problemOfRetrieval(output, tool.manifest.min_confidence) : null;
  if (problem !== null) {
    return fail({ category: 'retrieval_failure', error_code: problem.code, certainty: 'failed' }, problem.message);
  }
  const kept = await keepOutput(asJson(parsed.data) ?? output, env);
  return {
    class: 'ok',
    ...kept,
    duration_ms: fail({ category: 'unknown_error', error_code: '', certainty }, '').duration_ms,
  };
}

/** Small outputs travel; large ones are stored here, by the activity that made them, and only their id travels. */
async function keepOutput(
  raw: Json,
  env: ToolEnvironment,
): Promise<Pick<CallSucceeded, 'output' | 'artifact_id' | 'bytes' | 'inline' | 'unsaved'>> {
  const output = redactJson(raw, env.redact);
  const text = canonicalJson(output);
  const artifact_id = sha256Hex(text);
  const bytes = new TextEncoder().encode(text).length;
  const inline = bytes <= LIMIT.inlineOutputBytes;
  const saved = inline || (await savePatiently(env, artifact_id, text));
  return { output: inline ? output : null, artifact_id, bytes, inline, ...(saved ? {} : { unsaved: true as const }) };
}

const SAVE_TRIES = 5;
const SAVE_PAUSE_MS = 2_000;

/** The tool has done its work: a store that is away must not make that work look undone, or be done again. */
async function savePatiently(env: ToolEnvironment, id: string, text: string): Promise<boolean> {
  for (let tried = 1; ; tried += 1) {
    try {
      await env.saveArtifact(id, text);
      return true;
    } catch {
      if (tried === SAVE_TRIES || env.stopped() !== null) return false;
      await sleep(SAVE_PAUSE_MS);
    }
  }
}

const contextOf = (request: ToolCallRequest, env: ToolEnvironment, changed: (text: string) => void): ToolContext => ({
  guidance: request.guidance,
  attempt: request.attempt,
  constraints: request.constraints,
  idempotencyKey: request.idempotency_key,
  signal: env.signal,
  heartbeat: (details) => env.heartbeat(details),
  changed,
});

type Timed<T> = { kind: 'returned'; value: T } | { kind: 'threw'; error: unknown } | { kind: 'timed_out' };

/** A tool that ignores its signal does not hold up the run: its answer, should it still come, is not waited for. */
async function withTimeout<T>(
  outer: AbortSignal,
  ms: number,
  run: (signal: AbortSignal) => Promise<T> | T,
): Promise<Timed<T>> {
  const own = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Timed<T>>((resolve) => {
    timer = setTimeout(() => {
      own.abort(new DOMException('The tool took too long', 'TimeoutError'));
      resolve({ kind: 'timed_out' });
    }, ms);
  });
  const attempt = (async (): Promise<Timed<T>> => {
    try {
      return { kind: 'returned', value: await run(AbortSignal.any([outer, own.signal])) };
    } catch (error) {
      return { kind: 'threw', error };
    }
  })();
  const left = new AbortController();
  const stopped = new Promise<Timed<T>>((resolve) => {
    const leaveBehind = (): void => resolve({ kind: 'threw', error: outer.reason });
    if (outer.aborted) leaveBehind();
    else outer.addEventListener('abort', () => setTimeout(leaveBehind, STOP_GRACE_MS).unref(), { signal: left.signal });
  });
  try {
    return await Promise.race([attempt, late, stopped]);
  } finally {
    clearTimeout(timer);
    left.abort();
  }
}

/** How long a tool may take to react to its signal before it is left behind. */
const STOP_GRACE_MS = 2_000;

function asJson(value: unknown): Json | undefined {
  if (value === undefined) return null;
  try {
    const text = JSON.stringify(value);
    return text === undefined ? undefined : (JSON.parse(text) as Json);
  } catch {
    return undefined;
  }
}

const sentence = (problems: { path: string; message: string }[]): string =>
  problems
    .slice(0, 3)
    .map((problem) => `${problem.path}: ${problem.message}`)
    .join('; ');
