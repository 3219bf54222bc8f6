import { shortenToBytes } from './shorten-to-bytes.ts';
import type { AssistantMessage, Message, StatePart, ToolMessage, UserMessage } from './message.ts';

/** The most that one repair may add to a request, in bytes of JSON: the output to repair and the guidance. */
const REPAIR_OUTPUT_BYTES = 40_000;
const GUIDANCE_BYTES = 3_000;

export interface ReplacedTail {
  messages: Message[];
  /** How many pairs of call and result were removed, including calls without a result. */
  removed_pairs: number;
}

/**
 * Removes failed calls and their results from the end of a conversation and adds one message of guidance, so that the
 * model sees what was learnt instead of the failures. Calls that succeeded beside them stay, and earlier guidance is
 * removed. `pairs` limits this to the last pairs.
 */
export function replaceFailedTail(
  messages: readonly Message[],
  guidance: string,
  { pairs = Number.POSITIVE_INFINITY }: { pairs?: number } = {},
): ReplacedTail {
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
 * Asks for an answer again, with the unusable output and guidance at the end. It replaces an earlier repair, so a
 * conversation contains at most one.
 */
export function replaceInvalidOutput(messages: readonly Message[], output: string, guidance: string): Message[] {
  let base = messages;
  for (let unit = lastUnit(base); unit?.unit.kind === 'repair'; unit = lastUnit(base)) {
    base = base.slice(0, unit.start);
  }
  const said = shortenToBytes(output, REPAIR_OUTPUT_BYTES);
  const attempt: AssistantMessage[] = said.trim() === '' ? [] : [{ role: 'assistant', text: said, calls: [] }];
  return [...base, ...attempt, guidanceMessage(guidance)];
}

/** Guidance is never empty, because providers refuse empty messages. */
const guidanceMessage = (guidance: string): UserMessage => ({
  role: 'user',
  text: shortenToBytes(guidance.trim() === '' ? 'Go on.' : guidance, GUIDANCE_BYTES),
  guidance: true,
});

/** An assistant message with calls, and the results that follow it. */
interface Round {
  kind: 'round';
  assistant: AssistantMessage;
  results: ToolMessage[];
}
/** A message of guidance, with the unusable answer before it if the guidance is about one. */
type Unit = Round | { kind: 'repair' };

/** The last part of a conversation that may be changed, or null if the last part has to stay. */
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

/** The last assistant message with calls and its results, if the conversation ends with one. */
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

/** Removes the last `most` failed pairs of a unit. */
function withoutFailed(unit: Unit, most: number): { left: Message[]; taken: number } {
  if (unit.kind === 'repair') return { left: [], taken: 0 };
  const gone = new Set(failedIds(unit).slice(-most));
  return { left: without(unit, gone), taken: gone.size };
}

/** Removes calls that were lost and have no result, because providers refuse them. */
function withoutUnanswered(messages: readonly Message[]): ReplacedTail {
  const round = lastRound(messages);
  if (round === null) return { messages: [...messages], removed_pairs: 0 };
  const answered = new Set(round.results.map((result) => result.call_id));
  const lost = new Set(round.assistant.calls.map((call) => call.call_id).filter((id) => !answered.has(id)));
  return { messages: [...messages.slice(0, round.start), ...without(round, lost)], removed_pairs: lost.size };
}

/** Removes some pairs of a round. If no call is left, the text that announced them is removed too. */
function without({ assistant, results }: Round, gone: ReadonlySet<string>): Message[] {
  const calls = assistant.calls.filter((call) => !gone.has(call.call_id));
  if (calls.length === 0) return [];
  const { state, ...rest } = assistant;
  const left = state === undefined ? {} : { state: { ...state, parts: withoutParts(state.parts, gone) } };
  return [{ ...rest, calls, ...left }, ...results.filter((result) => !gone.has(result.call_id))];
}

/**
 * Only the first of several parallel calls is signed. If it is removed, its signature moves to the first call that
 * stays.
 */
function withoutParts(parts: readonly StatePart[], gone: ReadonlySet<string>): StatePart[] {
  const isGone = (part: StatePart): boolean => part.type === 'call' && gone.has(part.call_id);
  const signature = parts.find((part) => isGone(part) && part.options !== undefined)?.options;
  const kept = parts.filter((part) => !isGone(part));
  const heir = kept.findIndex((part) => part.type === 'call');
  return kept.map((part, index) =>
    index === heir && signature !== undefined && part.options === undefined ? { ...part, options: signature } : part,
  );
}
