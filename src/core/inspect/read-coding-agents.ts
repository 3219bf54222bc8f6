/** Readers for the files of coding agents. Each recognizes its records by their shape. */
import {
  contentText,
  fieldsOf,
  type Fields,
  isFields,
  listOf,
  parseArguments,
  type RecordReader,
  textOf,
  tokensEvent,
  type TranscriptEvent,
} from './events.ts';

const claudeBlock = (block: unknown): TranscriptEvent[] => {
  const { type, id, name, input, tool_use_id, content, is_error } = fieldsOf(block);
  if (type === 'tool_use' && typeof name === 'string') return [{ type: 'call', id: textOf(id), tool: name, input }];
  if (type !== 'tool_result') return [];
  const error = typeof is_error === 'boolean' ? is_error : undefined;
  return [{ type: 'result', id: textOf(tool_use_id), output: contentText(content), error }];
};

const CLAUDE_TYPES = ['assistant', 'user', 'system', 'summary', 'progress', 'file-history-snapshot', 'queue-operation'];

/** Claude Code writes one block of a message per line, and repeats the id and the usage of the message. */
export const readClaudeCode: RecordReader = (record) => {
  const { type, message, isMeta, uuid, sessionId, toolUseResult } = record;
  if (typeof type !== 'string' || !CLAUDE_TYPES.includes(type)) return null;
  if (!isFields(message)) {
    return type !== 'assistant' && type !== 'user' ? { format: 'claude-code', events: [] } : null;
  }
  const blocks = listOf(message['content']);
  const events = blocks.flatMap(claudeBlock);
  const isClaude =
    textOf(uuid) !== null || textOf(sessionId) !== null || toolUseResult !== undefined || events.length > 0;
  if (!isClaude) return null;
  const isPerson =
    type === 'user' &&
    isMeta !== true &&
    !events.some((event) => event.type === 'result') &&
    hasText(message['content']);
  return {
    format: 'claude-code',
    events: [
      ...(isPerson ? [{ type: 'user' } as const] : []),
      ...tokensEvent(message['usage'], message['id']),
      ...events,
    ],
  };
};

const hasText = (content: unknown): boolean => contentText(content).trim() !== '';

/** Codex: `response_item` lines with a payload, or the payloads themselves in older versions. */
export const readCodex: RecordReader = (record) => {
  const { type, payload, timestamp } = record;
  const isWrapped =
    isFields(payload) &&
    typeof type === 'string' &&
    /^(?:response_item|event_msg|session_meta|turn_context|compacted)$/.test(type);
  if (!isWrapped) return null;
  if (type === 'event_msg' && payload['type'] === 'token_count') {
    const last = fieldsOf(fieldsOf(payload['info'])['last_token_usage']);
    return { format: 'codex', events: tokensEvent(last, textOf(timestamp)) };
  }
  return { format: 'codex', events: type === 'response_item' ? responseItem(payload) : [] };
};

/** Items of OpenAI's Responses API, which Codex uses too. */
export const responseItem = (item: Fields): TranscriptEvent[] => {
  const { type, name, call_id, id, role } = item;
  const key = textOf(call_id) ?? textOf(id);
  switch (type) {
    case 'function_call':
      return [{ type: 'call', id: key, tool: textOf(name) ?? 'function', input: parseArguments(item['arguments']) }];
    case 'custom_tool_call':
      return [{ type: 'call', id: key, tool: textOf(name) ?? 'custom_tool', input: parseArguments(item['input']) }];
    case 'local_shell_call':
      return [{ type: 'call', id: key, tool: 'local_shell', input: item['action'] ?? null }];
    case 'function_call_output':
    case 'custom_tool_call_output':
    case 'local_shell_call_output':
      return [{ type: 'result', id: key, ...codexOutput(item['output']) }];
    case 'message':
      return role === 'user' ? [{ type: 'user' }] : [];
    default:
      return [];
  }
};

const codexOutput = (output: unknown): { output: unknown; error?: boolean } => {
  const parsed = parseArguments(output);
  if (!isFields(parsed)) return { output: contentText(output) };
  const code = fieldsOf(parsed['metadata'])['exit_code'];
  const success = parsed['success'];
  const said = contentText(parsed['output'] ?? parsed['content'] ?? parsed);
  if (typeof code === 'number') return { output: said, error: code !== 0 };
  return typeof success === 'boolean' ? { output: said, error: !success } : { output: said };
};

/** The pi coding agent: a session of entries, of which `message` entries have calls and results. */
export const readPi: RecordReader = (record) => {
  const message = record['type'] === 'message' && isFields(record['message']) ? record['message'] : null;
  if (record['type'] === 'session' && record['cwd'] !== undefined) return { format: 'pi', events: [] };
  if (message === null) return null;
  const { role, content, toolCallId, isError, usage } = message;
  if (role === 'toolResult') {
    const error = typeof isError === 'boolean' ? isError : undefined;
    return { format: 'pi', events: [{ type: 'result', id: textOf(toolCallId), output: contentText(content), error }] };
  }
  if (role === 'user') return { format: 'pi', events: [{ type: 'user' }] };
  if (role !== 'assistant') return null;
  const calls = listOf(content).flatMap((part): TranscriptEvent[] => {
    const { type, id, name, arguments: input } = fieldsOf(part);
    return type === 'toolCall' && typeof name === 'string' ? [{ type: 'call', id: textOf(id), tool: name, input }] : [];
  });
  return { format: 'pi', events: [...tokensEvent(usage, record['id']), ...calls] };
};

/** Actions that are not calls: messages, and changes of the state of the agent. */
const NO_CALLS = ['message', 'change_agent_state', 'null', 'system', 'recall', 'condensation', 'condensation_request'];
const OBSERVED_STATES = ['agent_state_changed', 'null', 'recall', 'agent_condensed'];

const openHandsAction = (record: Fields, action: string): TranscriptEvent[] => {
  const { args, source, id } = record;
  const isFromPerson = action === 'message' && (source === 'user' || (source === undefined && id === undefined));
  if (NO_CALLS.includes(action)) return isFromPerson ? [{ type: 'user' }] : [];
  // Older files have the arguments beside the action.
  const { thought: _thought, action: _action, is_confirmed: _confirmed, ...own } = fieldsOf(args ?? record);
  return [{ type: 'call', id: typeof id === 'number' ? String(id) : null, tool: action, input: own }];
};

/** OpenHands: actions and the observations they cause; or steps with `agent.action` and `environment`. */
export const readOpenHands: RecordReader = (record) => {
  const { action, observation, cause, content, extras, agent, environment, user_message } = record;
  if (isFields(agent) && 'action' in agent && environment !== undefined) {
    const asked: TranscriptEvent[] = textOf(user_message) === null ? [] : [{ type: 'user' }];
    // The last step of such a file has no action: the agent says that it is done.
    const done = textOf(agent['action']) ?? '';
    const heading = /^[A-Z][\w ]{2,40}:/.exec(done)?.[0];
    const tool = heading?.slice(0, -1);
    const input = heading === undefined ? undefined : done.slice(heading.length).trim();
    const call = { type: 'call', id: null, tool: tool ?? 'action', input: input ?? done } as const;
    const result = { type: 'result', id: null, output: contentText(environment) } as const;
    return { format: 'openhands', events: [...asked, call, result] };
  }
  const isOld = record['observation'] !== undefined && record['extras'] !== undefined;
  if (
    typeof action === 'string' &&
    (isFields(record['args']) ||
      record['action_risk'] !== undefined ||
      record['source'] !== undefined ||
      record['thought'] !== undefined)
  ) {
    return { format: 'openhands', events: openHandsAction(record, action) };
  }
  if (typeof observation !== 'string' || action !== undefined) return null;
  if (record['source'] === undefined && cause === undefined && !isOld && content === undefined) return null;
  if (OBSERVED_STATES.includes(observation)) return { format: 'openhands', events: [] };
  const code =
    fieldsOf(extras)['exit_code'] ?? fieldsOf(fieldsOf(extras)['metadata'])['exit_code'] ?? record['exit_code'];
  const error = observation === 'error' ? true : typeof code === 'number' ? code !== 0 : undefined;
  const id = typeof cause === 'number' ? String(cause) : null;
  return { format: 'openhands', events: [{ type: 'result', id, output: contentText(content ?? ''), error }] };
};

/** The first word of a command is its tool, because such agents have one tool for everything. */
const commandTool = (command: string): string => /^\s*(\S{1,60})/.exec(command)?.[1] ?? '(none)';

/** SWE-agent: steps of a `trajectory`. */
export const readSweAgent: RecordReader = ({ action, observation, thought, response, state }, list) => {
  if (typeof action !== 'string' || typeof observation !== 'string') return null;
  if (list !== 'trajectory' && thought === undefined && response === undefined && state === undefined) return null;
  return {
    format: 'swe-agent',
    events: [
      { type: 'call', id: null, tool: commandTool(action), input: action },
      { type: 'result', id: null, output: observation },
    ],
  };
};

/** The text of the first code block that holds a command. */
const miniCommand = (text: string): string | undefined => {
  const fence = ['```mswea_bash_command', '```bash'].find((one) => text.includes(one));
  if (fence === undefined) return undefined;
  const from = text.indexOf(fence) + fence.length;
  const end = text.indexOf('```', from);
  return end < 0 ? undefined : text.slice(from, end).trim();
};
const MINI_RESULT = /^\s*<returncode>(-?\d+)<\/returncode>\s*([\s\S]*)$/;

/**
 * Mini-SWE-agent: messages whose commands are code blocks and whose results are messages of the user. `isMini` says
 * that the conversation was recognized as one, because the result of the last command may be empty.
 */
export const readMiniMessage = (record: Fields): { events: TranscriptEvent[]; isCertain: boolean } | null => {
  const { role, content } = record;
  const text = contentText(content ?? '');
  if (role === 'assistant') {
    const blocks = text.split('```mswea_bash_command').length - 1;
    const command = miniCommand(text);
    if (command === undefined) return null;
    return { events: [{ type: 'call', id: null, tool: commandTool(command), input: command }], isCertain: blocks > 0 };
  }
  const [, code, output] = role === 'user' || role === 'tool' ? (MINI_RESULT.exec(text) ?? []) : [];
  if (code === undefined) return null;
  const said = (output ?? '').replace(/^<output>\n?/, '').replace(/\n?<\/output>\s{0,20}$/, '');
  const result = { type: 'result', id: null, output: said, error: code !== '0' } as const;
  return { events: [result], isCertain: true };
};
