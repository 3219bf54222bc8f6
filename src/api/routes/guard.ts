import type { z } from 'zod';
import { decideAfter, decideBefore } from '../../core/guard/decide.ts';
import { type GuardSettings, noteUserMessage, settingsOf } from '../../core/guard/guard-state.ts';
import { mergePolicy } from '../../core/policy/merge-policy.ts';
import { defined } from '../../protocol/json.ts';
import type { ApiContext, ApiDeps } from '../api-context.ts';
import type { RateLimit } from '../access.ts';
import { readBody } from '../read-request.ts';
import type { Route } from '../route.ts';
import { SCHEMAS } from '../schemas/all-schemas.ts';

/** Enough for the whole input and output of most calls. */
const CALL_BYTES = 2 * 1024 * 1024;
/** Agents ask twice for every call of a tool, and an answer costs no query. */
const GUARD_RATE: RateLimit = { burst: 20_000, perSecond: 10_000 };

export const guardBefore: Route = {
  method: 'post',
  path: '/v1/guard/before',
  role: 'reporter',
  summary: 'Ask whether a tool call of an agent that runs elsewhere may run',
  body: 'GuardBefore',
  answer: { status: 200, description: 'Whether the call may run', schema: 'GuardBeforeAnswer' },
  rateLimit: GUARD_RATE,
  handle: async (c, deps) => {
    const { tool, input, effect, ...about } = await readBody(c, SCHEMAS.GuardBefore, CALL_BYTES);
    const session = openSession(c, deps, about);
    const { state, decision } = decideBefore(session.state, { tool, input, ...defined({ effect }) }, session.settings);
    session.keep(state);
    return answer(c, decision);
  },
};

export const guardAfter: Route = {
  method: 'post',
  path: '/v1/guard/after',
  role: 'reporter',
  summary: 'Report a tool call of an agent that runs elsewhere, and ask whether the agent may go on',
  body: 'GuardAfter',
  answer: { status: 200, description: 'Whether the agent may go on', schema: 'GuardAfterAnswer' },
  rateLimit: GUARD_RATE,
  handle: async (c, deps) => {
    const body = await readBody(c, SCHEMAS.GuardAfter, CALL_BYTES);
    const { tool, input, effect, output, error, ...about } = body;
    const session = openSession(c, deps, about);
    const call = { tool, input, ...defined({ effect, output, error }) };
    const { state, decision } = decideAfter(session.state, call, session.settings);
    session.keep(state);
    return answer(c, decision);
  },
};

type Session = Pick<z.infer<typeof SCHEMAS.GuardBefore>, 'agent' | 'session' | 'mode' | 'user_message'>;

function openSession(c: ApiContext, { registry }: ApiDeps, { agent, session, mode, user_message }: Session) {
  const sessions = c.get('guardSessions');
  const key = { tenant: c.get('grant').tenant, agent, session };
  const known = sessions.get(key);
  return {
    state: user_message === true ? noteUserMessage(known) : known,
    settings: findSettings(registry, agent, mode),
    keep: (state: typeof known) => sessions.set(key, state),
  };
}

/** An agent that this server knows has its own policy; others have the default. */
const findSettings = (registry: ApiDeps['registry'], agent: string, mode: Session['mode']): GuardSettings =>
  settingsOf(mergePolicy(registry.agents.get(agent)?.policy, defined({ mode })));

type Decision = ReturnType<typeof decideBefore>['decision'] | ReturnType<typeof decideAfter>['decision'];

/**
 * The answer is not redacted, which would take most of its time: it has our own sentences, numbers, and the name of the
 * tool that the caller has just sent.
 */
const answer = (c: ApiContext, { verdict: action, text: guidance, loop }: Decision): Response => {
  const why = loop === undefined ? 'The agent shows no sign of being stuck.' : loop.signal;
  const body = JSON.stringify({ action, why, guidance, loop });
  return c.body(body, 200, { 'content-type': 'application/json' });
};
