import { type Fields, isFields, listOf, textOf } from '../inspect/events.ts';
import { AGENT_HOOKS, type HookAgent } from './agents.ts';

/** Recognizes our command in the settings of an agent, whatever its paths and its mode are. */
const OWN_COMMAND = /(?:secondwind(?:\.mjs)?|main\.[jt]s)["']? hook run --agent (?:claude|codex|gemini)\b/;

export const isOwnHook = (hook: unknown): boolean => isFields(hook) && OWN_COMMAND.test(textOf(hook['command']) ?? '');

/** Removes our commands from the groups of one event. A group that has no other command goes too. */
const withoutOwn = (groups: unknown): unknown[] =>
  listOf(groups).flatMap((group) => {
    if (!isFields(group) || !Array.isArray(group['hooks']) || !group['hooks'].some(isOwnHook)) return [group];
    const others = group['hooks'].filter((hook) => !isOwnHook(hook));
    return others.length === 0 ? [] : [{ ...group, hooks: others }];
  });

/** Why the settings cannot be changed: another shape than the agent documents is left alone. */
export const settingsProblem = (settings: unknown): string | null => {
  if (!isFields(settings)) return 'it does not contain a JSON object';
  const { hooks } = settings;
  if (hooks === undefined) return null;
  if (!isFields(hooks)) return '"hooks" is not an object';
  const wrong = Object.entries(hooks).find(([, groups]) => !Array.isArray(groups));
  return wrong === undefined ? null : `"hooks.${wrong[0]}" is not a list`;
};

/** Returns the settings without our hooks. Everything else keeps its place. */
export const removeHooks = (settings: Fields): Fields => {
  const { hooks } = settings;
  if (!isFields(hooks) || !Object.values(hooks).some((groups) => ownHooks(groups).length > 0)) return settings;
  const left = Object.entries(hooks).flatMap(([event, groups]): [string, unknown][] => {
    const others = withoutOwn(groups);
    return ownHooks(groups).length > 0 && others.length === 0 ? [] : [[event, others]];
  });
  const { hooks: _hooks, ...rest } = settings;
  return left.length === 0 ? rest : { ...settings, hooks: Object.fromEntries(left) };
};

const ownHooks = (groups: unknown): Fields[] =>
  listOf(groups).flatMap((group) => (isFields(group) ? listOf(group['hooks']).filter(isFields).filter(isOwnHook) : []));

/** Our commands in the settings, by event. */
export const findOwnHooks = (settings: unknown): Record<string, string[]> => {
  const hooks = isFields(settings) && isFields(settings['hooks']) ? settings['hooks'] : {};
  return Object.fromEntries(
    Object.entries(hooks).flatMap(([event, groups]) => {
      const commands = ownHooks(groups).map((hook) => textOf(hook['command']) ?? '');
      return commands.length === 0 ? [] : [[event, commands]];
    }),
  );
};

/**
 * Returns the settings with our hook at every event of the agent. A hook of ours that is there already is replaced in
 * its place, so that installing twice changes nothing.
 */
export const addHooks = (settings: Fields, agent: HookAgent, command: string): Fields => {
  const { events, timeout } = AGENT_HOOKS[agent];
  const known = isFields(settings['hooks']) ? settings['hooks'] : {};
  const hook = { type: 'command', command, timeout };
  const added = Object.entries(events).map(([event, moment]): [string, unknown] => {
    const hasTool = moment === 'before' || moment === 'after';
    const group = hasTool ? { matcher: '*', hooks: [hook] } : { hooks: [hook] };
    const groups = listOf(known[event]);
    const at = groups.findIndex((one) => ownHooks([one]).length > 0);
    if (at < 0) return [event, [...groups, group]];
    const others = [withoutOwn(groups.slice(0, at)), withoutOwn(groups.slice(at))];
    return [event, [...(others[0] ?? []), group, ...(others[1] ?? [])]];
  });
  const kept = Object.entries(known).map(([event, groups]): [string, unknown] =>
    Object.hasOwn(events, event) ? [event, groups] : [event, withoutOwn(groups)],
  );
  return { ...settings, hooks: { ...Object.fromEntries(kept), ...Object.fromEntries(added) } };
};
