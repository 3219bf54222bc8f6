import { z } from 'zod';
import { boundSentence } from '../../core/bound/sentence.ts';
import { computeBound } from '../../core/bound/compute-bound.ts';
import { mergePolicy } from '../../core/policy/merge-policy.ts';
import { type Agent, thinks } from '../../define/define-agent.ts';
import { prepareRun, reviewerOf } from '../../define/prepare-run.ts';
import { CAP } from '../../protocol/caps.ts';
import { DEFAULT_POLICY } from '../../protocol/policy.ts';
import type { Bound } from '../../protocol/run.ts';
import { answerJson } from '../json-answer.ts';
import type { ApiDeps } from '../api-context.ts';
import { Problem } from '../problem.ts';
import { readBody } from '../read-request.ts';
import type { Route } from '../route.ts';
import { SCHEMAS } from '../schemas/all-schemas.ts';

export const bound: Route = {
  method: 'post',
  path: '/v1/bound',
  role: 'viewer',
  summary: 'The limit of a run, before it starts: the most that it can take',
  body: 'BoundRequest',
  answer: { status: 200, description: 'Every figure, and one sentence', schema: 'Bound' },
  handle: async (c, deps) => {
    const given = await readBody(c, SCHEMAS.BoundRequest, CAP.runInputBytes);
    const most = computeBoundFor(deps, given);
    return answerJson(c, { ...most, sentence: boundSentence(most) });
  },
};

function computeBoundFor({ registry }: ApiDeps, { agent, plan, policy }: z.infer<typeof SCHEMAS.BoundRequest>): Bound {
  if (agent === undefined) return computeBound({ policy: mergePolicy(policy), planLength: plan?.steps.length ?? null });
  // The request is checked as at the start of a run, so that an invalid run gets no limit.
  const request = { agent, goal: 'bound', ...(plan && { plan }), ...(policy && { policy }) };
  const outcome = prepareRun(request, registry, 'bound');
  if (outcome.ok) return outcome.prepared.bound;
  throw new Problem('bad_request', 'Correct the named fields and ask again.', { errors: outcome.problems });
}

export const policy: Route = {
  method: 'get',
  path: '/v1/policy',
  role: 'viewer',
  summary: 'Every policy setting with its default',
  answer: { status: 200, description: 'The whole policy', schema: 'Policy' },
  handle: (c) => answerJson(c, DEFAULT_POLICY),
};

export const agents: Route = {
  method: 'get',
  path: '/v1/agents',
  role: 'viewer',
  summary: 'The agents that can be started here, and their tools',
  answer: { status: 200, description: 'The agents by name', schema: 'Agents' },
  handle: (c, { registry }) => answerJson(c, { agents: [...registry.agents.values()].map(shown) }),
};

const shown = (agent: Agent) => ({
  name: agent.name,
  planner: agent.planner === undefined && !thinks(agent) ? 'given' : 'chooses',
  has_plan: agent.plan !== undefined,
  reviewer: reviewerOf(agent),
  policy: agent.policy ?? {},
  tools: agent.tools.map(({ manifest, input }) => ({
    name: manifest.name,
    effect: manifest.effect,
    kind: manifest.kind,
    approval: manifest.approval,
    timeout_ms: manifest.timeout_ms,
    input_schema: z.toJSONSchema(input, { unrepresentable: 'any', io: 'input' }),
  })),
});
