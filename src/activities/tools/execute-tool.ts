import { redactJson } from '../../core/redaction/redact.ts';
import { factsOfError } from '../../core/retry/facts-of-error.ts';
import type { Tool } from '../../define/define-tool.ts';
import { problemsOf } from '../../define/problems.ts';
import type { Json } from '../../protocol/json.ts';
import type { CallOutcome, ReconcileOutcome, ToolCallRequest } from '../../protocol/tools.ts';
import { openNotes } from './attempt-notes.ts';
import { asJson, checkOutput, keepOutput, sentence } from './check-output.ts';
import { deniedBy } from './constraints.ts';
import { detectIn, textOf } from './detect-in-output.ts';
import type { ToolEnvironment } from './environment.ts';
import { failer, outcomeOfThrown, outcomeOfTimeout } from './failed-attempt.ts';
import { resolveArtifacts, type ResolvedInput } from './resolve-artifacts.ts';
import { queryOf } from './retrieval.ts';
import { wordsOf } from './told-by-error.ts';
import { type Timed, withTimeout } from './with-timeout.ts';

/** Runs one attempt of a tool and tells truthfully how it ended. Never throws for what the tool did. */
export async function executeTool(tool: Tool, request: ToolCallRequest, env: ToolEnvironment): Promise<CallOutcome> {
  const startedAt = env.now();
  const fail = failer(env, () => env.now() - startedAt);
  const notes = openNotes(tool, request, env);

  const resolved = await inputOf(request, env);
  if (resolved === null) {
    const away = { category: 'network', error_code: 'STORE_UNREACHABLE', certainty: 'not_started' } as const;
    return fail(away, 'the store is away, so the pointers of the input cannot be resolved');
  }
  if (!resolved.ok) {
    const lost = {
      category: 'pointer_unresolved',
      error_code: 'POINTER_UNRESOLVED',
      certainty: 'not_started',
    } as const;
    return fail(lost, `cannot resolve $artifact ${resolved.id}`);
  }
  const denied = deniedBy(request.constraints, resolved.input);
  if (denied !== null) {
    notes.log({ event: 'denied_by_constraint', path: denied.path, failure_id: denied.origin?.failure_id ?? null });
    const refused = {
      category: 'invalid_input',
      error_code: 'DENIED_BY_CONSTRAINT',
      certainty: 'not_started',
    } as const;
    return fail(refused, denied.message, [denied]);
  }
  const input = await tool.input.safeParseAsync(resolved.input);
  if (!input.success) {
    const problems = problemsOf(input.error);
    const refused = { category: 'invalid_input', error_code: 'INVALID_INPUT', certainty: 'not_started' } as const;
    return fail(refused, sentence(problems), problems);
  }

  const run = await withTimeout(env.signal, request.timeout_ms, (signal) =>
    tool.run(input.data, { ...notes.context, signal }),
  );
  const ended = await judge(run);
  if (ended.class === 'cancelled') return ended;
  const query = queryOf(tool, input.data, env.redact);
  const detected = tool.detect === true ? detectIn(wordsOfRun(run), env.redact) : undefined;
  const told = await notes.told(ended.class, { input: input.data });
  return { ...ended, ...told, ...(query !== undefined && { query }), ...(detected !== undefined && { detected }) };

  async function judge(how: Timed<unknown>): Promise<CallOutcome> {
    if (how.kind === 'timed_out') return outcomeOfTimeout(how.error, tool, request.timeout_ms, fail);
    if (how.kind === 'threw') return outcomeOfThrown(how.error, tool, env, fail, (event) => notes.log(event));
    const checked = await checkOutput(tool, request, how.value, env, notes, fail);
    return checked.class === 'ok' ? { ...checked, duration_ms: Math.max(0, env.now() - startedAt) } : checked;
  }
}

const wordsOfRun = (run: Timed<unknown>): string =>
  run.kind === 'returned'
    ? textOf((run.value ?? null) as Json)
    : wordsOf(run.error, factsOfError(run.error).message ?? '');

/** Asks the tool whether an attempt that gave no answer had its effect; if it cannot tell, nobody can. */
export async function reconcileTool(
  tool: Tool,
  request: ToolCallRequest,
  env: ToolEnvironment,
): Promise<ReconcileOutcome> {
  const resolved = await inputOf(request, env);
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
  const clean = redactJson(asJson(output.data) ?? null, env.redact);
  const { unsaved: _unsaved, ...kept } = await keepOutput(clean, env);
  return { verdict: 'done', ...kept };
}

/** Pointers are put in place, unless a model wrote the input: then it is what it says. */
const inputOf = async ({ input, literal }: ToolCallRequest, env: ToolEnvironment): Promise<ResolvedInput | null> =>
  literal ? { ok: true, input } : resolveArtifacts(input, env.loadArtifact).catch(() => null);
