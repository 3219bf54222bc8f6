import { boundOfRun } from '../core/bound/compute-bound.ts';
import { isRerunId } from '../core/guardrails/loop-ids.ts';
import { mergePolicy } from '../core/policy/merge-policy.ts';
import { defaultLoopId, ID_PATTERN } from '../protocol/ids.ts';
import { pathTooDeep } from '../protocol/json.ts';
import { NOTHING_REMEMBERED } from '../protocol/lessons.ts';
import { CAP } from '../protocol/caps.ts';
import { policyKeysAt } from '../protocol/policy.ts';
import type { PreparedRun, PrepareOutcome, RequestProblem, RunRequest } from '../protocol/run.ts';
import type { Plan } from '../protocol/schemas/plan.ts';
import { runRequestSchema } from '../protocol/schemas/run-request.ts';
import { checkPlan } from './check-plan.ts';
import { type Agent, asksModel, helpersIn, helpersOf, manifestOf, modelNameOf, thinks } from './define-agent.ts';
import { problemsOf, suggestion } from './problems.ts';
import type { Registry } from './registry.ts';

/**
 * Turns a request into a run, or says why not, before any workflow starts. The same function serves the client, the
 * HTTP door and, for runs started past our doors, the activity `prepare`.
 */
export function prepareRun(request: unknown, registry: Registry, runId: string): PrepareOutcome {
  const bytes = sizeOf(request);
  const deep = bytes === null || bytes <= CAP.runInputBytes ? pathTooDeep(request) : null;
  if (deep !== null)
    return refused([{ path: deep, message: `nested deeper than ${CAP.jsonLevels} levels; flatten it` }]);
  if (bytes === null) return refused([{ path: '$', message: 'expected JSON' }]);
  if (bytes > CAP.runInputBytes) {
    const message = `${bytes} bytes are over the cap of ${CAP.runInputBytes}; store large inputs and point to them`;
    return refused([{ path: '$', message }]);
  }
  const parsed = runRequestSchema.safeParse(request);
  if (!parsed.success) return refused(problemsOf(parsed.error, '$', knownKeys));
  const asked: RunRequest = parsed.data;

  const agent = registry.agents.get(asked.agent);
  if (agent === undefined) {
    const message = `no agent named ${asked.agent}${suggestion(asked.agent, [...registry.agents.keys()])}`;
    return refused([{ path: '$.agent', message }]);
  }
  const policy = mergePolicy(agent.policy, asked.policy);
  const loopId = asked.loop_id ?? defaultLoopId(runId);
  const plan = asked.plan ?? agent.plan ?? null;
  const chooses = asked.plan === undefined && (agent.planner !== undefined || thinks(agent));
  const helping = helpersIn(agent, chooses ? null : plan);
  const asking = [
    ...((chooses && thinks(agent)) || agent.review?.asksModel !== undefined ? [agent] : []),
    ...helping.filter(asksModel),
  ];
  const unpriced = asking.find((one) => !isPriced(one));
  const problems = [
    ...crossChecks(policy.budget),
    ...(policy.budget.max_cost_micro_usd !== null && unpriced !== undefined
      ? [
          {
            path: '$.policy.budget.max_cost_micro_usd',
            message: `the agent ${unpriced.name} has no prices to count by`,
          },
        ]
      : []),
    ...(ID_PATTERN.test(runId)
      ? []
      : [{ path: '$.run_id', message: `${runId.slice(0, 80)} is no id (${ID_PATTERN.source})` }]),
    ...(isRerunId(loopId) ? [{ path: '$.loop_id', message: RERUN_ID }] : []),
    ...(!chooses && plan === null ? [{ path: '$.plan', message: `the agent ${agent.name} needs a plan` }] : []),
    // The agent's own plan was checked when it was defined.
    ...(asked.plan === undefined ? [] : checkPlan(asked.plan, agent.tools)),
  ];
  if (problems.length > 0) return refused(problems);
  const given: Plan | null = chooses ? null : plan;
  const helpers = helpersOf(helping);
  const run = {
    run_id: runId,
    agent: agent.name,
    goal: asked.goal,
    input: asked.input ?? null,
    planner: chooses ? ('chooses' as const) : ('given' as const),
    plan: given,
    model: chooses && thinks(agent) ? modelNameOf(agent) : null,
    ...(chooses && agent.output !== undefined && { typed_output: true as const }),
    reviewer: reviewerOf(agent),
    policy,
    manifest: manifestOf(agent),
    ...(helpers !== undefined && { helpers }),
    loop_id: loopId,
    labels: asked.labels ?? [],
    parent_run_id: asked.parent_run_id ?? null,
    memory: NOTHING_REMEMBERED,
  };
  return { ok: true, prepared: { ...run, bound: boundOfRun(run) } };
}

export const reviewerOf = ({ review }: Agent): PreparedRun['reviewer'] =>
  review === undefined ? 'rules' : review.asksModel === undefined ? 'own' : 'model';

/** Whatever asks a model on this agent's behalf knows what that costs. */
const isPriced = ({ prices, review, instructions }: Agent): boolean =>
  prices !== undefined || (instructions === undefined && review?.asksModel === 'priced');

const RERUN_ID = 'ends in _r<n>, which marks a rerun; choose another id';

const refused = (problems: RequestProblem[]): PrepareOutcome => ({ ok: false, problems });

function crossChecks(budget: { soft: number; near: number }): RequestProblem[] {
  if (budget.soft <= budget.near) return [];
  return [{ path: '$.policy.budget.soft', message: 'must not be above budget.near' }];
}

function sizeOf(request: unknown): number | null {
  try {
    const text = JSON.stringify(request);
    return text === undefined ? null : new TextEncoder().encode(text).length;
  } catch {
    return null;
  }
}

/** The keys that a request or its policy knows at a path, for the "did you mean". */
function knownKeys(path: PropertyKey[]): string[] {
  if (path.length === 0) return Object.keys(runRequestSchema.shape);
  return path[0] === 'policy' ? policyKeysAt(path.slice(1)) : [];
}
