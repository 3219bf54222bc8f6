import { findTooDeepPath } from '../../protocol/json.ts';
import type { AssistantMessage, Message } from './message.ts';

/** Why a provider would refuse a conversation. */
export interface TranscriptProblem {
  /** The index of the message, or the number of messages if something is missing at the end. */
  index: number;
  rule: TranscriptRule;
  message: string;
}
export type TranscriptRule =
  | 'no_messages'
  | 'system_not_first'
  | 'starts_without_user'
  | 'empty_message'
  | 'same_role_twice'
  | 'result_without_call'
  | 'call_without_result'
  | 'call_id_missing'
  | 'call_id_twice'
  | 'input_not_object'
  | 'ends_with_assistant';

/**
 * Checks the rules of all providers together, each as the strictest provider has it. A conversation without problems is
 * accepted by any of them.
 */
export function checkTranscript(messages: readonly Message[]): TranscriptProblem[] {
  const problems: TranscriptProblem[] = [];
  const report = (index: number, rule: TranscriptRule, message: string): void => {
    problems.push({ index, rule, message });
  };
  const seen = new Set<string>();
  /** Calls of the previous assistant message that have no result yet. */
  let waiting = new Set<string>();

  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool') {
      const id = message.call_id;
      if (!waiting.delete(id)) {
        report(index, 'result_without_call', `a result for ${shown(id)}, which was not called just before`);
      }
      continue;
    }
    reportUnanswered(waiting, index, report);
    waiting = new Set();
    if (isEmpty(message)) report(index, 'empty_message', `an empty ${message.role} message`);
    checkOrder(messages, index, report);
    if (message.role === 'assistant' && message.calls.length > 0) {
      checkCalls(message, index, seen, report);
      waiting = new Set(message.calls.map((call) => call.call_id));
    }
  }
  reportUnanswered(waiting, messages.length, report);
  const last = messages.at(-1);
  if (last === undefined || messages.every((message) => message.role === 'system')) {
    report(messages.length, 'no_messages', 'there is nothing to answer');
  } else if (last.role === 'assistant' && last.calls.length === 0) {
    report(messages.length, 'ends_with_assistant', 'the last word is the assistant’s own');
  }
  return problems;
}

type Report = (index: number, rule: TranscriptRule, message: string) => void;

function reportUnanswered(waiting: ReadonlySet<string>, index: number, report: Report): void {
  for (const id of waiting) report(index, 'call_without_result', `the call ${shown(id)} has no result`);
}

function checkOrder(messages: readonly Message[], index: number, report: Report): void {
  const { role } = messages[index] as Message;
  const before = messages[index - 1];
  if (role === 'system') {
    if (index > 0) report(index, 'system_not_first', 'a system message that is not the first message');
    return;
  }
  if (role === 'assistant' && (before === undefined || before.role === 'system')) {
    report(index, 'starts_without_user', 'the first message after the instructions must be the user’s');
  }
  if (before?.role === role) report(index, 'same_role_twice', `two ${role} messages in a row; join them`);
}

function checkCalls(message: AssistantMessage, index: number, seen: Set<string>, report: Report): void {
  for (const call of message.calls) {
    if (call.call_id === '') report(index, 'call_id_missing', `a call of ${call.tool} without an id`);
    else if (seen.has(call.call_id)) report(index, 'call_id_twice', `the call id ${shown(call.call_id)} is used twice`);
    seen.add(call.call_id);
    const isObject = typeof call.input === 'object' && call.input !== null && !Array.isArray(call.input);
    if (!isObject || findTooDeepPath(call.input) !== null) {
      report(index, 'input_not_object', `the arguments of ${shown(call.call_id)} are no JSON object`);
    }
  }
}

const isEmpty = (message: Exclude<Message, { role: 'tool' }>): boolean =>
  message.text.trim() === '' && (message.role !== 'assistant' || message.calls.length === 0);

const shown = (id: string): string => (id.length > 60 ? `${id.slice(0, 60)}…` : id);
