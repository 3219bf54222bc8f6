import { decideAfter } from '../guard/decide.ts';
import {
  createGuardState,
  type GuardReport,
  type GuardSettings,
  noteUserMessage,
  reportGuard,
} from '../guard/guard-state.ts';
import type { InspectedLoop } from '../inspect/inspected-loop.ts';
import type { Guidance } from './insert-guidance.ts';
import type { Conversation } from './read-conversation.ts';

/** What the proxy does with a request. */
export interface Judgement {
  /** Texts for results in the request. They are the same in every later request, so that the model's cache stays valid. */
  guidance: Guidance[];
  /** Set if the model is not asked: what the agent is answered instead. */
  stop: { text: string; loop: InspectedLoop } | null;
  report: GuardReport;
}

/** Why the model was not asked. The agent shows it to its user as the last message. */
const describeEnd = (loop: InspectedLoop): string =>
  `Stopped by Secondwind: the agent is stuck (calls ${loop.start} to ${loop.end}). ${loop.signal} Progress would have been: ${loop.progress.charAt(0).toLowerCase()}${loop.progress.slice(1)} Write what to do instead, and the agent goes on.`;

/**
 * Lets the guard see the calls of a conversation from the first one on. It keeps nothing between requests, so that
 * conversations cannot be confused and a restart of the proxy changes nothing.
 */
export const judgeConversation = ({ calls, endsWithUser }: Conversation, settings: GuardSettings): Judgement => {
  let state = createGuardState();
  const guidance: Guidance[] = [];
  let stop: Judgement['stop'] = null;
  let latest = 0;
  for (const { tool, input, output, error, afterUser, turn, path } of calls) {
    if (afterUser) state = noteUserMessage(state);
    const answered = error === true ? { tool, input, error: output } : { tool, input, output };
    const { state: next, decision } = decideAfter(state, answered, settings);
    state = next;
    // The agent went on after an earlier turn, for example before the proxy was there.
    if (turn !== latest) stop = null;
    latest = turn;
    const { verdict, text, loop } = decision;
    if (verdict === 'guide' && text !== undefined) guidance.push({ path, text });
    if ((verdict === 'stop' || verdict === 'ask') && loop !== undefined) stop = { text: describeEnd(loop), loop };
  }
  return { guidance, stop: endsWithUser ? null : stop, report: reportGuard(state) };
};
