import { defined } from '../protocol/json.ts';
import { redactJson, type Redact } from '../core/redaction/redact.ts';
import type { Message } from '../core/transcript/message.ts';
import { cleanState } from './provider-state.ts';

/**
 * A conversation as it is sent: exact, except for the values of known secrets. Names of tools and ids of calls stay as they
 * are, because the provider and the run match by them.
 */
export const maskMessages = (messages: readonly Message[], mask: Redact): Message[] =>
  messages.map((message) => masked(message, mask));

function masked(message: Message, mask: Redact): Message {
  switch (message.role) {
    case 'system':
    case 'user':
      return { ...message, text: mask(message.text) };
    case 'tool':
      return { ...message, output: redactJson(message.output, mask) };
    case 'assistant': {
      const { state, ...rest } = message;
      const clean = state === undefined ? null : cleanState(state, mask);
      return {
        ...rest,
        text: mask(message.text),
        calls: message.calls.map((call) => ({ ...call, input: redactJson(call.input, mask) as typeof call.input })),
        ...defined({ state: clean ?? undefined }),
      };
    }
  }
}
