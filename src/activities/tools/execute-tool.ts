import { readErrorFacts } from '../../core/retry/read-error-facts.ts';
import type { Tool } from '../../define/define-tool.ts';
import { ToolError } from '../../define/tool-error.ts';
import { problemsOf } from '../../define/zod-problems.ts';
import { CAP } from '../../protocol/caps.ts';
import { defined, type Json } from '../../protocol/json.ts';
import { LATE_EFFECT } from '../../protocol/names.ts';
import type { CallOutcome, ReconcileOutcome, ToolCallRequest } from '../../protocol/tools.ts';
import { createAttemptNotes } from './attempt-notes.ts';
import { asJson, checkOutput, keepOutput, joinProblems } from './check-output.ts';
import { findDenial } from './constraints.ts';
import { readContextRefs } from './context-refs.ts';
import { detectFeedbackInText, collectText } from './detect-feedback-in-text.ts';
import type { ToolEnvironment } from './tool-environment.ts';
import { failureBuilder, classifyThrown, buildTimeoutFailure } from './failed-attempt.ts';
import { resolveArtifacts, type ResolvedInput } from './resolve-artifacts.ts';
import { queryOf } from './retrieval.ts';
import { fullTextOf } from './error-details.ts';
import { type Patience, type Timed, withTimeout } from './with-timeout.ts';

/** Runs one attempt of a tool and returns how it ended. It does not throw for anything that the tool does. */
export async function executeTool(tool: Tool, request: ToolCallRequest, env: ToolEnvironment): Promise<CallOutcome> {
  const startedAt = env.now();
  const fail = failureBuilder(env, () => env.now() - startedAt);
  const notes = createAttemptNotes(tool, request, env);
  const refsOf = (call: Parameters<typeof readContextRefs>[1]) => readContextRefs(tool, call, env.redact);

  const resolved = await resolveInput(request, env);
  if (resolved === null) {
    const away = { category: 'network', error_code: 'STORE_UNREACHABLE', certainty: 'not_started' } as const;
    return fail(away, 'the store is unavailable, so the artifact pointers of the input cannot be resolved');
  }
  if (!resolved.ok) {
    const lost = {
      category: 'pointer_unresolved',
      error_code: 'POINTER_UNRESOLVED',
      certainty: 'not_started',
    } as const;
    return fail(lost, `cannot resolve $artifact ${resolved.id}`);
  }
  const denied = findDenial(request.constraints, resolved.input);
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
    return { ...fail(refused, joinProblems(problems), problems), ...refsOf({ input: resolved.input }) };
  }

  const isExpired = (): boolean =>
    env.now() - startedAt > request.timeout_ms || env.wasFrozenSince?.(startedAt - JUST_BEFORE_MS) === true;
  if (tool.effect === 'side_effect' && isExpired()) {
    const over = { category: 'worker_lost', error_code: 'ATTEMPT_EXPIRED', origin: 'infrastructure' } as const;
    return fail({ ...over, certainty: 'not_started' }, EXPIRED);
  }
  const throwIfExpired = (): void => {
    if (isExpired()) throw new ToolError(EXPIRED, { category: 'timeout', code: 'ATTEMPT_EXPIRED' });
  };
  const patience = tool.effect === 'side_effect' ? waitForLateEffect(tool, request, env) : undefined;
  const run = await withTimeout(
    env.signal,
    request.timeout_ms,
    (signal) => tool.run(input.data, { ...notes.context, signal, throwIfExpired }),
    patience,
  );
  const ended = await judge(run);
  if (ended.class === 'cancelled') return ended;
  const query = queryOf(tool, input.data, env.redact);
  const detected = tool.detect === true ? detectFeedbackInText(textOfRun(run), env.redact) : undefined;
  const told = await notes.report(ended.class, { input: input.data });
  const output = run.kind === 'returned' ? run.value : undefined;
  const refs = ended.class === 'failed' ? refsOf({ input: input.data, output, query }) : {};
  return { ...ended, ...told, ...defined({ query, detected }), ...refs };

  async function judge(how: Timed<unknown>): Promise<CallOutcome> {
    if (how.kind === 'timed_out') return buildTimeoutFailure(how, tool, request.timeout_ms, fail);
    if (how.kind === 'threw') return classifyThrown(how, tool, env, fail, (event) => notes.log(event));
    const checked = await checkOutput(tool, request, how.value, env, notes, fail);
    return checked.class === 'ok' ? { ...checked, duration_ms: Math.max(0, env.now() - startedAt) } : checked;
  }
}

/**
 * A side effect that goes on after its timeout may still act, so nobody can find out yet whether it happened. It is waited
 * for, and the heartbeats tell the status of the run why.
 */
const waitForLateEffect = (tool: Tool, { step_id }: ToolCallRequest, env: ToolEnvironment): Patience => ({
  graceMs: CAP.lateEffectMs,
  onLate: () => env.heartbeat({ [LATE_EFFECT]: `step ${step_id} (${tool.name})` }),
});

const EXPIRED = 'this attempt is over: its time is up, or its worker stood still and the run has moved on';
/** A worker that was frozen may get a call that the server handed to it during that time. */
const JUST_BEFORE_MS = 1_000;

const textOfRun = (run: Timed<unknown>): string =>
  run.kind === 'returned'
    ? collectText((run.value ?? null) as Json)
    : fullTextOf(run.error, readErrorFacts(run.error).message ?? '');

/** Asks the tool whether an attempt without an answer had its effect. The result is unknown if the tool cannot tell. */
export async function reconcileTool(
  tool: Tool,
  request: ToolCallRequest,
  env: ToolEnvironment,
): Promise<ReconcileOutcome> {
  const resolved = await resolveInput(request, env);
  const input = resolved?.ok ? await tool.input.safeParseAsync(resolved.input) : null;
  if (tool.reconcile === undefined || input === null || !input.success) return { verdict: 'unknown' };
  const { reconcile } = tool;
  const { data } = input;
  const asked = await withTimeout(env.signal, request.timeout_ms, (signal) =>
    reconcile(data, {
      idempotencyKey: request.idempotency_key,
      fence: request.fence,
      stepId: request.step_id,
      attempt: request.attempt,
      signal,
    }),
  );
  const found = asked.kind === 'returned' ? asked.value : undefined;
  if (found?.verdict === 'not_done') return { verdict: 'not_done' };
  if (found?.verdict !== 'done') return { verdict: 'unknown' };
  // An output that does not fit the tool's schema proves nothing.
  const output = await tool.output.safeParseAsync(asJson(found.output));
  if (!output.success) return { verdict: 'unknown' };
  return { verdict: 'done', ...(await keepOutput(JSON.stringify(output.data ?? null), request, env)) };
}

/** Replaces artifact pointers with their content, unless a model wrote the input: then the input is used as it is. */
async function resolveInput(
  { input, literal, step_id }: ToolCallRequest,
  env: ToolEnvironment,
): Promise<ResolvedInput | null> {
  if (literal) return { ok: true, input };
  const load = (id: string) => env.waitForStore(`read the input of step ${step_id}`, () => env.loadArtifact(id));
  return resolveArtifacts(input, load).catch(() => null);
}
