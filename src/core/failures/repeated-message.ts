import { messageIdentity } from './call-identity.ts';
import { stallFingerprint } from './loop-rules.ts';
import type { LoopPolicy, LoopWatch, SeenMessage, Stall } from './loop-watch.ts';
import { GUIDED_CALLS } from './loop-watch.ts';

const REMEMBERED = 16;

export interface AfterMessage {
  state: LoopWatch;
  action: 'go_on' | 'guide' | 'escalate';
  stall?: Stall;
  /** True the first time, when the stall has to be recorded. */
  is_new: boolean;
}

const stallOf = (message: SeenMessage, end: number): Stall => ({
  rule: 'same_message',
  fingerprint: stallFingerprint('same_message', null, []),
  tool_name: null,
  start: message.since,
  end,
  repeats: message.count,
});

/**
 * Checks a message that an agent wrote instead of calling a tool. (Text beside a call is not checked, because the call
 * is.) The same message again without progress is recorded, then answered with guidance twice, then escalated. All such
 * stalls of a run share one fingerprint, because an agent's text is never part of a fingerprint.
 */
export const afterMessage = (state: LoopWatch, text: string, policy: LoopPolicy): AfterMessage => {
  if (text.trim() === '') return { state, action: 'go_on', is_new: false };
  const identity = messageIdentity(text);
  const number = state.messages + 1;
  const seen = state.seen_messages.find((one) => one.identity === identity);
  const counted = seen?.stretch === state.stretch ? seen : undefined;
  const message: SeenMessage = {
    identity,
    stretch: state.stretch,
    count: (counted?.count ?? 0) + 1,
    since: counted?.since ?? number,
  };
  const next: LoopWatch = {
    ...state,
    messages: number,
    seen_messages: [...state.seen_messages.filter((one) => one !== seen), message].slice(-REMEMBERED),
  };
  const beyond = message.count - policy.same_message;
  if (beyond < 0) return { state: next, action: 'go_on', is_new: false };
  const action = beyond === 0 ? 'go_on' : beyond <= GUIDED_CALLS ? 'guide' : 'escalate';
  return { state: next, action, stall: stallOf(message, number), is_new: beyond === 0 };
};
