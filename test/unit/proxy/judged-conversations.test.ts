/** What the proxy remembers of conversations changes how long a request takes, and never its verdict. Needs nothing. */
import { describe, expect, it } from 'vitest';
import { JudgedConversations } from '../../../src/cli/proxy/judged-conversations.ts';
import { settingsOf } from '../../../src/core/guard/guard-state.ts';
import { mergePolicy } from '../../../src/core/policy/merge-policy.ts';
import { judgeConversation } from '../../../src/core/proxy/judge-conversation.ts';
import { readConversation } from '../../../src/core/proxy/read-conversation.ts';
import { type RecordedCall, RECORDINGS } from '../../support/recordings.ts';

const conversationOf = (calls: readonly RecordedCall[]) =>
  readConversation('chat', {
    messages: calls.flatMap(({ tool, input, output }, n) => [
      { role: 'assistant', tool_calls: [{ id: `c${n}`, function: { name: tool, arguments: JSON.stringify(input) } }] },
      { role: 'tool', tool_call_id: `c${n}`, content: output },
    ]),
  });

describe.each(['guide', 'enforce'] as const)('in %s mode', (mode) => {
  const settings = settingsOf(mergePolicy({ mode }));

  it.each(RECORDINGS)('$name: request by request is judged as from the first call on', ({ calls }) => {
    const kept = new JudgedConversations(settings);
    for (let end = 1; end <= calls.length; end += 1) {
      const conversation = conversationOf(calls.slice(0, end));
      expect(kept.judge('same start', conversation)).toEqual(judgeConversation(conversation, settings));
    }
  });

  it('a conversation that was shortened or changed is judged anew', () => {
    const kept = new JudgedConversations(settings);
    const [first, second] = RECORDINGS;
    for (const calls of [first?.calls, first?.calls.slice(2), second?.calls, first?.calls.slice(0, 3), first?.calls]) {
      const conversation = conversationOf(calls ?? []);
      expect(kept.judge('same start', conversation)).toEqual(judgeConversation(conversation, settings));
    }
  });
});
