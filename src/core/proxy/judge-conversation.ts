import { decideAfter } from '../guard/decide.ts';
import {
  createGuardState,
  type GuardReport,
  type GuardSettings,
  type GuardState,
  noteUserMessage,
  reportGuard,
} from '../guard/guard-state.ts';
import type { InspectedLoop } from '../inspect/inspected-loop.ts';
import type { Guidance } from './insert-guidance.ts';
import type { Conversation } from './read-conversation.ts';

/** What the guard knows after the first calls of a conversation. */
export interface Judged {
  calls: number;
  state: GuardState;
  guidance: readonly Guidance[];
  turn: number;
  stop: Stop | null;
}

interface Stop {
  text: string;
  loop: InspectedLoop;
}

/** What the proxy does with a request. */
export interface Judgement {
  /** Texts for results in the request. They are the same in every later request, so that the model's cache stays valid. */
  guidance: readonly Guidance[];
  /** Set if the model is not asked: what the agent is answered instead. */
  stop: Stop | null;
  report: GuardReport;
  /** To continue with in a later request that begins with the same calls. */
  judged: Judged;
}

/** Why the model was not asked. The agent shows it to its user as the last message. */
const describeEnd = (loop: InspectedLoop): string =>
  `Stopped by Secondwind: the agent is stuck (calls ${loop.start} to ${loop.end}). ${loop.signal} Progress would have been: ${loop.progress.charAt(0).toLowerCase()}${loop.progress.slice(1)} Write what to do instead, and the agent goes on.`;

const NOTHING_JUDGED: Omit<Judged, 'state'> = { calls: 0, guidance: [], turn: 0, stop: null };

/**
 * Lets the guard see the calls of a conversation. The result depends only on the request; `from` saves the work for
 * calls that were judged before.
 */
export const judgeConversation = (
  { calls, endsWithUser }: Conversation,
  settings: GuardSettings,
  from: Judged = { ...NOTHING_JUDGED, state: createGuardState() },
): Judgement => {
  let { state, turn, stop } = from;
  const guidance = [...from.guidance];
  for (const call of calls.slice(from.calls)) {
    const { tool, input, output, path } = call;
    if (call.afterUser) state = noteUserMessage(state);
    const answered = call.error === true ? { tool, input, error: output } : { tool, input, output };
    const { state: next, decision } = decideAfter(state, answered, settings);
    state = next;
    // The agent went on after an earlier turn, for example before the proxy was there.
    if (call.turn !== turn) stop = null;
    turn = call.turn;
    const { verdict, text, loop } = decision;
    if (verdict === 'guide' && text !== undefined) guidance.push({ path, text });
    if ((verdict === 'stop' || verdict === 'ask') && loop !== undefined) stop = { text: describeEnd(loop), loop };
  }
  const judged = { calls: calls.length, state, guidance, turn, stop };
  return { guidance, stop: endsWithUser ? null : stop, report: reportGuard(state), judged };
};
