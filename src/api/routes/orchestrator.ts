import { answerJson } from '../json-answer.ts';
import { GuardRefusedError } from '../../client/guard-errors.ts';
import { DECISION_DEADLINE_MS } from '../../client/temporal/temporal-guards.ts';
import { mayAct } from '../access.ts';
import type { LoopAnswer } from '../../core/guardrails/loop-answer.ts';
import { checkPolicyMessage } from '../../core/guardrails/guard-policy.ts';
import { checkReport, type LoopReport } from '../../core/guardrails/loop-report.ts';
import { hashOfJson } from '../../protocol/ids.ts';
import { DEFAULT_POLICY } from '../../protocol/policy.ts';
import type { ApiContext, ApiDeps } from '../api-context.ts';
import { Problem } from '../problem.ts';
import {
  checked,
  IDEMPOTENCY_KEY,
  idempotencyKey,
  readId,
  MESSAGE_BYTES,
  readMessage,
  readJson,
} from '../read-request.ts';
import type { Route } from '../route.ts';
import { SCHEMAS } from '../schemas/all-schemas.ts';

/** Longer than the client waits for the decision of a guard or of a run. */
const DEADLINE_MS = DECISION_DEADLINE_MS + 10_000;

const readLoopId = (c: ApiContext): string =>
  readId(c, 'loop_id', 'unknown_loop', 'This is not a valid loop id. Check the id.');

export const loopComplete: Route = {
  method: 'post',
  path: '/orchestrator/loop-complete',
  role: 'reporter',
  summary: 'Report a finished pass (loop) and get the decision whether to run it again',
  body: 'LoopReport',
  answer: { status: 200, description: 'The decision', schema: 'LoopAnswer' },
  problems: ['unknown_loop', 'loop_running'],
  deadlineMs: DEADLINE_MS,
  handle: async (c, deps) => {
    const body = await readJson(c, MESSAGE_BYTES);
    const report = checked(SCHEMAS.LoopReport, body) as LoopReport;
    // These rules apply to reports from every sender. They check more than the schema can.
    const errors = checkReport(body);
    if (errors.length > 0)
      throw new Problem('invalid_report', 'Correct the named fields and report again.', { errors });
    needOperator(c, deps, report);
    return answerJson(c, await decide(c, deps, report, hashOfJson(body)));
  },
};

/** A reporter must not lift its own limits, so overrides need the role operator. */
function needOperator(c: ApiContext, { guardPolicy = DEFAULT_POLICY }: ApiDeps, report: LoopReport): void {
  const { max_reruns: most } = guardPolicy.reruns;
  const { max_reruns: wanted = 0 } = report;
  const lifts =
    report.override_fatigue === true ||
    report.override_max_reruns === true ||
    report.policy !== undefined ||
    wanted > most;
  const { role } = c.get('grant');
  if (!lifts || mayAct(role, 'operator')) return;
  const what = `Override flags, a policy, and a max_reruns above ${most} need the role operator`;
  throw new Problem('weaker_role', `${what}; the token has the role ${role}. Leave them out or use another token.`);
}

/** Asks the reviewer only if the guard has no decision yet, because a decision is never made twice. */
async function decide(
  c: ApiContext,
  { guards, reviewer, log }: ApiDeps,
  report: LoopReport,
  bodyHash: string,
): Promise<LoopAnswer> {
  try {
    return await guards.completeLoop(report, { bodyHash });
  } catch (error) {
    const missing = error instanceof GuardRefusedError && error.problem === 'review_missing';
    if (!missing || reviewer === undefined) throw error;
    const reviewed = await addReview(report, reviewer).catch((cause: unknown) => {
      const why = c
        .get('redact')(cause instanceof Error ? cause.message : String(cause))
        .slice(0, REASON_CHARS);
      log?.error({ request_id: c.get('requestId'), loop_id: report.loop_id, err: cause }, 'a loop was not reviewed');
      const next = 'Send a reflection_result with the report, or report it again.';
      throw new Problem('review_missing', `The reviewer of this server failed: ${why}. ${next}`, { cause });
    });
    return guards.completeLoop(reviewed, { bodyHash });
  }
}

const REASON_CHARS = 300;

/** An invalid review is an error of the reviewer and not of the reporter. */
async function addReview(report: LoopReport, reviewer: NonNullable<ApiDeps['reviewer']>): Promise<LoopReport> {
  const reviewed = { ...report, reflection_result: await reviewer(report) };
  const [error] = checkReport(reviewed);
  if (error !== undefined) throw new TypeError(`${error.path}: ${error.message}`);
  return reviewed;
}

export const guardrailsStatus: Route = {
  method: 'get',
  path: '/orchestrator/guardrails-status/{loop_id}',
  role: 'viewer',
  summary: 'The state of the guardrails of a loop',
  answer: { status: 200, description: 'Counts, limits and scores', schema: 'GuardrailsStatus' },
  problems: ['unknown_loop'],
  handle: async (c, { guards }) =>
    answerJson(c, { status: 'success', guardrails_status: await guards.status(readLoopId(c)) }),
};

export const loopTrace: Route = {
  method: 'get',
  path: '/orchestrator/loop-trace/{loop_id}',
  role: 'viewer',
  summary: 'The passes (loops) of a family, and why each was followed by another or was the last',
  answer: { status: 200, description: 'Oldest first', schema: 'Trace' },
  problems: ['unknown_loop'],
  handle: async (c, { guards }) => answerJson(c, { trace: (await guards.trace(readLoopId(c))).trace }),
};

export const loopOverrides: Route = {
  method: 'get',
  path: '/orchestrator/overrides/{loop_id}',
  role: 'viewer',
  summary: 'The overrides of a family: who, why, when, and the decision that used each',
  answer: { status: 200, description: 'Oldest first', schema: 'Overrides' },
  problems: ['unknown_loop'],
  handle: async (c, { guards }) => answerJson(c, { overrides: (await guards.trace(readLoopId(c))).overrides }),
};

export const loopPolicy: Route = {
  method: 'get',
  path: '/orchestrator/policy/{loop_id}',
  role: 'viewer',
  summary: 'The policy of a family of loops that run elsewhere',
  answer: { status: 200, description: 'The policy, and who set it', schema: 'GuardPolicy' },
  problems: ['unknown_loop', 'ended'],
  handle: async (c, { guards }) => answerJson(c, await guards.policy(readLoopId(c))),
};

export const setLoopPolicy: Route = {
  method: 'put',
  path: '/orchestrator/policy/{loop_id}',
  role: 'operator',
  summary: 'Set the policy of a family of loops that run elsewhere, before its first report',
  body: 'GuardPolicyRequest',
  answer: { status: 200, description: 'The policy of the family', schema: 'GuardPolicy' },
  problems: ['unknown_loop', 'policy_fixed', 'not_a_first_loop'],
  deadlineMs: DEADLINE_MS,
  handle: async (c, { guards }) => {
    const loopId = readLoopId(c);
    const body = await readJson(c, MESSAGE_BYTES);
    // The guard checks the same again, because messages also reach it without the API.
    const errors = checkPolicyMessage(body);
    if (errors.length > 0)
      throw new Problem('invalid_policy', 'Correct the named fields and set it again.', { errors });
    const { policy, by } = checked(SCHEMAS.GuardPolicyRequest, body);
    return answerJson(c, await guards.setPolicy(loopId, { policy, by: c.get('redact')(by) }));
  },
};

export const overrideGuardrails: Route = {
  method: 'post',
  path: '/orchestrator/override-guardrails/{loop_id}',
  role: 'operator',
  summary: 'Allow one more pass (loop) where the guard would end the family',
  body: 'OverrideRequest',
  headers: [IDEMPOTENCY_KEY],
  answer: {
    status: 200,
    description: 'The override waits for its limit, or one was waiting already',
    schema: 'OverrideAnswer',
  },
  problems: ['unknown_loop', 'max_overrides'],
  deadlineMs: DEADLINE_MS,
  handle: async (c, { guards }) => {
    const loopId = readLoopId(c);
    const key = idempotencyKey(c);
    const body = await readMessage(c, 'override');
    return answerJson(c, await guards.override(loopId, body, key === undefined ? {} : { idempotencyKey: key }));
  },
};
