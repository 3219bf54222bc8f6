import { computeRunBound } from '../core/bound/compute-bound.ts';
import { isRerunId } from '../core/guardrails/loop-ids.ts';
import { mergePolicy } from '../core/policy/merge-policy.ts';
import { defaultLoopId, ID_PATTERN } from '../protocol/ids.ts';
import { defined, findTooDeepPath } from '../protocol/json.ts';
import { EMPTY_START_MEMORY } from '../protocol/lessons.ts';
import { CAP } from '../protocol/caps.ts';
import { policyKeysAt } from '../protocol/policy.ts';
import type { PreparedRun, PrepareOutcome, RequestProblem, RunRequest } from '../protocol/run.ts';
import type { Plan } from '../protocol/schemas/plan.ts';
import { runRequestSchema } from '../protocol/schemas/run-request.ts';
import { checkPlan } from './check-plan.ts';
import {
  type Agent,
  asksModel,
  findHelpers,
  summariseHelpers,
  manifestOf,
  modelNameOf,
  thinks,
} from './define-agent.ts';
import { problemsOf, suggestName } from './zod-problems.ts';
import type { Registry } from './registry.ts';

/**
 * Checks a request against the registry and turns it into the input of a run, before any workflow starts. The client, the HTTP API
 * and, for runs that were started with the `temporal` command, the activity `prepare` all use it.
 *
 * Returns `{ ok: true, prepared }` or `{ ok: false, problems }`; it does not throw.
 */
export function prepareRun(request: unknown, registry: Registry, runId: string): PrepareOutcome {
  const bytes = sizeOf(request);
  const deep = bytes === null || bytes <= CAP.runInputBytes ? findTooDeepPath(request) : null;
  if (deep !== null)
    return refused([{ path: deep, message: `nested deeper than ${CAP.jsonLevels} levels; flatten it` }]);
  if (bytes === null) return refused([{ path: '$', message: 'expected JSON' }]);
  if (bytes > CAP.runInputBytes) {
    const message = `${bytes} bytes are over the cap of ${CAP.runInputBytes}; store large inputs elsewhere and send a reference to them`;
    return refused([{ path: '$', message }]);
  }
  const parsed = runRequestSchema.safeParse(request);
  if (!parsed.success) return refused(problemsOf(parsed.error, '$', knownKeys));
  const asked: RunRequest = parsed.data;

  const agent = registry.agents.get(asked.agent);
  if (agent === undefined) {
    const message = `no agent named ${asked.agent}${suggestName(asked.agent, [...registry.agents.keys()])}`;
    return refused([{ path: '$.agent', message }]);
  }
  const policy = mergePolicy(agent.policy, asked.policy);
  const loopId = asked.loop_id ?? defaultLoopId(runId);
  const plan = asked.plan ?? agent.plan ?? null;
  const chooses = asked.plan === undefined && (agent.planner !== undefined || thinks(agent));
  const helping = findHelpers(agent, chooses ? null : plan);
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
            message: `the agent ${unpriced.name} has no prices, so its cost cannot be counted; give it prices or leave this budget out`,
          },
        ]
      : []),
    ...(ID_PATTERN.test(runId)
      ? []
      : [{ path: '$.run_id', message: `${runId.slice(0, 80)} is not a valid id; it must match ${ID_PATTERN.source}` }]),
    ...(isRerunId(loopId) ? [{ path: '$.loop_id', message: RERUN_ID }] : []),
    ...(!chooses && plan === null
      ? [{ path: '$.plan', message: `the agent ${agent.name} needs a plan; send one` }]
      : []),
    // The agent's own plan was checked when it was defined.
    ...(asked.plan === undefined ? [] : checkPlan(asked.plan, agent.tools)),
  ];
  if (problems.length > 0) return refused(problems);
  const given: Plan | null = chooses ? null : plan;
  const helpers = summariseHelpers(helping);
  const planner = chooses ? 'chooses' : 'given';
  const reviewer = reviewerOf(agent);
  const run: PreparedRun = {
    run_id: runId,
    agent: agent.name,
    goal: asked.goal,
    input: asked.input ?? null,
    planner,
    plan: given,
    model: chooses && thinks(agent) ? modelNameOf(agent) : null,
    reviewer,
    policy,
    manifest: manifestOf(agent),
    loop_id: loopId,
    labels: asked.labels ?? [],
    parent_run_id: asked.parent_run_id ?? null,
    memory: EMPTY_START_MEMORY,
    keeps_asked_inputs: true as const,
    bound: computeRunBound({ policy, planner, plan: given, reviewer, ...defined({ helpers }) }),
  };
  if (chooses && agent.output !== undefined) run.typed_output = true;
  if (helpers !== undefined) run.helpers = helpers;
  if (asked.tenant !== undefined) run.tenant = asked.tenant;
  return { ok: true, prepared: run };
}

export const reviewerOf = ({ review }: Agent): PreparedRun['reviewer'] =>
  review === undefined ? 'rules' : review.asksModel === undefined ? 'own' : 'model';

/** Whether the prices of every model that this agent asks are known. */
const isPriced = ({ prices, review, instructions }: Agent): boolean =>
  prices !== undefined || (instructions === undefined && review?.asksModel === 'priced');

const RERUN_ID = 'must not end in _r<n>, because that marks a rerun; choose another id';

const refused = (problems: RequestProblem[]): PrepareOutcome => ({ ok: false, problems });

function crossChecks(budget: { soft: number; near: number }): RequestProblem[] {
  if (budget.soft <= budget.near) return [];
  return [{ path: '$.policy.budget.soft', message: 'must not be above budget.near' }];
}

function sizeOf(request: unknown): number | null {
  try {
    const text = JSON.stringify(request);
    return text === undefined ? null : Buffer.byteLength(text);
  } catch {
    return null;
  }
}

/** The keys that are valid at a path of a request, to suggest the nearest one for an unknown key. */
function knownKeys(path: PropertyKey[]): string[] {
  if (path.length === 0) return Object.keys(runRequestSchema.shape);
  return path[0] === 'policy' ? policyKeysAt(path.slice(1)) : [];
}
