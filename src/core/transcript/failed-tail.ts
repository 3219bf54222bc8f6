import { boundedText } from './bounded-text.ts';
import type { AssistantMessage, Message, StatePart, ToolMessage, UserMessage } from './message.ts';

/** What one repair may add to a request, as bytes of its JSON: the output to repair and the words about it. */
const REPAIR_OUTPUT_BYTES = 40_000;
const GUIDANCE_BYTES = 3_000;

export interface TailSurgery {
  messages: Message[];
  /** Call/result pairs that are gone, calls without a result among them. */
  removed_pairs: number;
}

/**
 * Takes failed calls at the tail out of a conversation, with their results, and puts one block of guidance in their
 * place: the model sees what was learned, not how it stumbled. Pairs that succeeded beside them stay, and guidance of
 * an earlier surgery goes. `pairs` takes only the last so many.
 */
export function replaceFailedTail(
  messages: readonly Message[],
  guidance: string,
  { pairs = Number.POSITIVE_INFINITY }: { pairs?: number } = {},
): TailSurgery {
  const answered = withoutUnanswered(messages);
  const kept: Message[] = [];
  let rest = answered.messages;
  let removed = 0;
  while (removed < pairs) {
    const end = lastUnit(rest);
    if (end === null) break;
    rest = rest.slice(0, end.start);
    const { left, taken } = withoutFailed(end.unit, pairs - removed);
    kept.unshift(...left);
    removed += taken;
  }
  return {
    messages: [...rest, ...kept, guidanceMessage(guidance)],
    removed_pairs: removed + answered.removed_pairs,
  };
}

/**
 * Asks for an answer again: the unusable output stands at the tail with the words about it. A repair replaces the one
 * before, so a conversation never carries more than one.
 */
export function replaceInvalidOutput(messages: readonly Message[], output: string, guidance: string): Message[] {
  let base = messages;
  for (let unit = lastUnit(base); unit?.unit.kind === 'repair'; unit = lastUnit(base)) {
    base = base.slice(0, unit.start);
  }
  const said = boundedText(output, REPAIR_OUTPUT_BYTES);
  const attempt: AssistantMessage[] = said.trim() === '' ? [] : [{ role: 'assistant', text: said, calls: [] }];
  return [...base, ...attempt, guidanceMessage(guidance)];
}

/** Empty guidance would be an empty message, which providers refuse. */
const guidanceMessage = (guidance: string): UserMessage => ({
  role: 'user',
  text: boundedText(guidance.trim() === '' ? 'Go on.' : guidance, GUIDANCE_BYTES),
  guidance: true,
});

/** An assistant message with calls, and the results that follow it. */
interface Round {
  kind: 'round';
  assistant: AssistantMessage;
  results: ToolMessage[];
}
/** A guidance block, with the unusable answer before it if that is what it is about. */
type Unit = Round | { kind: 'repair' };

/** What the surgery may touch at the end of a conversation, or null: then what stands there must stay. */
function lastUnit(messages: readonly Message[]): { unit: Unit; start: number } | null {
  const last = messages.at(-1);
  if (last?.role === 'user' && last.guidance === true) {
    const before = messages.at(-2);
    const isAnswer = before?.role === 'assistant' && before.calls.length === 0;
    return { unit: { kind: 'repair' }, start: messages.length - (isAnswer ? 2 : 1) };
  }
  const round = lastRound(messages);
  return round === null || failedIds(round).length === 0 ? null : { unit: round, start: round.start };
}

/** The assistant message with calls that the conversation ends with, its results included. */
function lastRound(messages: readonly Message[]): (Round & { start: number }) | null {
  const start = messages.findLastIndex((message) => message.role !== 'tool');
  const assistant = messages[start];
  if (assistant?.role !== 'assistant' || assistant.calls.length === 0) return null;
  const results = messages.slice(start + 1).filter((message) => message.role === 'tool');
  return { kind: 'round', assistant, results, start };
}

/** Ids of calls that failed, in the order of the calls. */
function failedIds({ assistant, results }: Round): string[] {
  const failed = new Set(results.filter((result) => result.failed === true).map((result) => result.call_id));
  return assistant.calls.map((call) => call.call_id).filter((id) => failed.has(id));
}

/** What stays of a unit when its last `most` failed pairs go. */
function withoutFailed(unit: Unit, most: number): { left: Message[]; taken: number } {
  if (unit.kind === 'repair') return { left: [], taken: 0 };
  const gone = new Set(failedIds(unit).slice(-most));
  return { left: without(unit, gone), taken: gone.size };
}

/** A call that was lost on the way has no result and can have none: no provider takes it so. */
function withoutUnanswered(messages: readonly Message[]): TailSurgery {
  const round = lastRound(messages);
  if (round === null) return { messages: [...messages], removed_pairs: 0 };
  const answered = new Set(round.results.map((result) => result.call_id));
  const lost = new Set(round.assistant.calls.map((call) => call.call_id).filter((id) => !answered.has(id)));
  return { messages: [...messages.slice(0, round.start), ...without(round, lost)], removed_pairs: lost.size };
}

/** A round without some of its pairs. When no call is left, the words that announced them go too. */
function without({ assistant, results }: Round, gone: ReadonlySet<string>): Message[] {
  const calls = assistant.calls.filter((call) => !gone.has(call.call_id));
  if (calls.length === 0) return [];
  const { state, ...rest } = assistant;
  const left = state === undefined ? {} : { state: { ...state, parts: withoutParts(state.parts, gone) } };
  return [{ ...rest, calls, ...left }, ...results.filter((result) => !gone.has(result.call_id))];
}

/** Of calls side by side only the first is signed; when it goes, its signature passes to the first that stays. */
function withoutParts(parts: readonly StatePart[], gone: ReadonlySet<string>): StatePart[] {
  const isGone = (part: StatePart): boolean => part.type === 'call' && gone.has(part.call_id);
  const signature = parts.find((part) => isGone(part) && part.options !== undefined)?.options;
  const kept = parts.filter((part) => !isGone(part));
  const heir = kept.findIndex((part) => part.type === 'call');
  return kept.map((part, index) =>
    index === heir && signature !== undefined && part.options === undefined ? { ...part, options: signature } : part,
  );
}
