import { isFields, textOf } from '../inspect/events.ts';
import { AGENT_HOOKS, type HookAgent, type HookMoment } from './agents.ts';
import { responseError, responseText } from './response-text.ts';

/** What an agent tells its hook, in the words of the guard. */
export type HookEvent = { session: string; name: string } & (
  | { moment: 'before'; tool: string; input: unknown }
  | { moment: 'after'; tool: string; input: unknown; output: unknown }
  | { moment: 'after'; tool: string; input: unknown; error: string }
  | { moment: 'user' | 'end' }
);

/** A sub-agent has its own conversation, so its calls are not counted with those of the agent that started it. */
const sessionOf = (session_id: unknown, agent_id: unknown): string | null => {
  const session = textOf(session_id);
  const subAgent = textOf(agent_id);
  return session === null || session === '' ? null : subAgent === null ? session : `${session}/${subAgent}`;
};

const momentOf = (agent: HookAgent, name: string): HookMoment | null => {
  const { events } = AGENT_HOOKS[agent];
  return Object.hasOwn(events, name) ? (events[name] ?? null) : null;
};

/** Reads the input of a hook, or returns null if it is not an event that is known. */
export const readHookEvent = (agent: HookAgent, value: unknown): HookEvent | null => {
  if (!isFields(value)) return null;
  const name = textOf(value['hook_event_name']);
  const session = sessionOf(value['session_id'], value['agent_id']);
  const moment = name === null ? null : momentOf(agent, name);
  if (name === null || session === null || moment === null) return null;
  if (moment === 'user' || moment === 'end') return { session, name, moment };
  const tool = textOf(value['tool_name']);
  if (tool === null || tool === '') return null;
  const input = value['tool_input'] ?? null;
  if (moment === 'before') return { session, name, moment, tool, input };
  // A person who interrupts a call takes over, as with a message.
  if (value['is_interrupt'] === true) return { session, name, moment: 'user' };
  const error = textOf(value['error']) ?? responseError(value['tool_response']);
  if (error !== null) return { session, name, moment, tool, input, error };
  return { session, name, moment, tool, input, output: responseText(value['tool_response']) };
};
