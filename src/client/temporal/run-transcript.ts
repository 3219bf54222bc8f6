import type { Client } from '@temporalio/client';
import { redactJson, type Redact } from '../../core/redaction/redact.ts';
import { answerId, type ConversationIndex, keptIds, sentIds } from '../../core/transcript/conversation-index.ts';
import { joinNeighbours } from '../../core/transcript/join-neighbours.ts';
import type { Message } from '../../core/transcript/message.ts';
import { RunNotFoundError, SecondwindError } from '../../protocol/errors.ts';
import type { Json } from '../../protocol/json.ts';
import type { Store } from '../../store/store.ts';
import { listModelTurns, type ModelTurn } from '../history/model-turns.ts';
import { fetchHistory } from '../history/read-history.ts';
import type { TranscriptMessage, TranscriptPage } from '../views.ts';
import { badCursor } from './visibility.ts';

export interface TranscriptDeps {
  client: Client;
  store: Store | undefined;
  redact: Redact;
}

const DEFAULT_PAGE = 50;
const MAX_PAGE = 200;
/** A page ends early with the message that makes it larger than this, in characters. */
const PAGE_CHARS = 1024 * 1024;

/**
 * Reads the conversation of a run with its model, as it was sent. A turn repeats all earlier messages in its request, so each turn adds
 * only the messages that are new in its request, and then the model's answer. A message that a turn changed or sent again in another
 * place is listed again with that turn. Throws `no_transcript` if the agent has no model.
 */
export async function runTranscript(
  deps: TranscriptDeps,
  runId: string,
  { cursor, limit = DEFAULT_PAGE }: { cursor?: string; limit?: number },
): Promise<TranscriptPage> {
  const from = readCursor(cursor);
  const size = Math.min(MAX_PAGE, Math.max(1, Math.trunc(limit)));
  const turns = await readTurns(deps, runId);
  const store = storeOf(deps);
  // Each request adds at least one message, except a retry of the same request, so a page seldom needs more than this.
  const last = Math.min(turns.length, from.call + size + 1);
  const messages = await loadMessages(store, turns.slice(Math.max(0, from.call - 1), last));
  const transcript: TranscriptMessage[] = [];
  let chars = 0;
  for (let call = from.call; call < last; call += 1) {
    const entries = listNew(turns, call, messages);
    for (const [at, entry] of entries.entries()) {
      if (call === from.call && at < from.at) continue;
      if (transcript.length === size || chars > PAGE_CHARS) return { transcript, next_cursor: `${call}-${at}` };
      const shown = show(entry, turns[call]?.turn ?? 0, deps.redact);
      chars += shown.content.length;
      transcript.push(shown);
    }
  }
  return { transcript, next_cursor: last < turns.length ? `${last}-0` : null };
}

/** Lists the requests to the model. Throws `no_transcript` if the agent has none, or if the history is deleted. */
export async function readTurns(deps: TranscriptDeps, runId: string): Promise<ModelTurn[]> {
  const { model, turns } = await readHistory(deps, runId);
  if (model === null) throw noTranscript('The agent of this run has no model.', 'The steps of the run show its work.');
  return turns;
}

export function storeOf({ store }: TranscriptDeps): Store {
  if (store === undefined) throw noTranscript('This client has no store.', 'Create the client with a store.');
  return store;
}

async function readHistory({ client, store }: TranscriptDeps, runId: string) {
  try {
    return listModelTurns(await fetchHistory(client, runId));
  } catch (error) {
    if (!(error instanceof RunNotFoundError) || !(await store?.archivedRuns.get(runId))) throw error;
    throw noTranscript(
      `Temporal has deleted the history of the run ${runId}.`,
      'The archive has its result and steps.',
    );
  }
}

const noTranscript = (message: string, nextStep: string): SecondwindError =>
  new SecondwindError('no_transcript', message, nextStep);

/** `<request>-<message>`: history only grows, so a cursor stays valid while the run continues. */
function readCursor(cursor: string | undefined): { call: number; at: number } {
  if (cursor === undefined) return { call: 0, at: 0 };
  const found = /^(\d{1,9})-(\d{1,9})$/.exec(cursor);
  if (found === null) throw badCursor();
  return { call: Number(found[1]), at: Number(found[2]) };
}

/** The requests and conversations of some turns. A message that occurs in several is one object. */
interface Loaded {
  sent(index: string): Message[];
  kept(index: string | null): Message[];
  answer(index: string): Message | null;
}

export async function loadMessages(store: Store, turns: readonly ModelTurn[]): Promise<Loaded> {
  const indexIds = new Set(turns.flatMap(({ before, index }) => (before === null ? [index] : [before, index])));
  const indexes = await loadJson<ConversationIndex>(store, [...indexIds]);
  const messageIds = new Set([...indexes.values()].flatMap((index) => [...keptIds(index), ...sentIds(index)]));
  const messages = await loadJson<Message>(store, [...messageIds]);
  const indexOf = (id: string): ConversationIndex => found(indexes, id);
  const resolve = (ids: readonly string[]): Message[] => joinNeighbours(ids.map((id) => found(messages, id)));
  return {
    sent: (id) => resolve(sentIds(indexOf(id))),
    kept: (id) => (id === null ? [] : resolve(keptIds(indexOf(id)))),
    answer: (id) => {
      const answer = answerId(indexOf(id));
      return answer === null ? null : found(messages, answer);
    },
  };
}

async function loadJson<T>(store: Store, ids: readonly string[]): Promise<ReadonlyMap<string, T>> {
  const artifacts = await store.artifacts.getMany(ids);
  return new Map(artifacts.map(({ id, bytes }) => [id, JSON.parse(new TextDecoder().decode(bytes)) as T]));
}

function found<T>(all: ReadonlyMap<string, T>, id: string): T {
  const one = all.get(id);
  if (one !== undefined) return one;
  throw noTranscript('A part of the conversation is no longer in the store.', 'The steps of the run show its work.');
}

/** What a request adds to what was sent and answered before it. */
function listNew(turns: readonly ModelTurn[], call: number, loaded: Loaded): Message[] {
  const own = turns[call];
  if (own === undefined) return [];
  const sent = loaded.sent(own.index);
  const previous = turns[call - 1];
  // A retry repeats the request that failed; any other turn continues the conversation before it.
  const repeated = previous?.turn === own.turn ? loaded.sent(previous.index) : [];
  const shared = Math.max(countShared(sent, loaded.kept(own.before)), countShared(sent, repeated));
  const answer = loaded.answer(own.index);
  return [...sent.slice(shared), ...(answer === null ? [] : [answer])];
}

function countShared(one: readonly Message[], other: readonly Message[]): number {
  const end = one.findIndex((message, at) => message !== other[at] && !isEqual(message, other[at]));
  return end === -1 ? one.length : end;
}

/** Joined messages are new objects with the same text. */
const isEqual = (one: Message, other: Message | undefined): boolean => JSON.stringify(one) === JSON.stringify(other);

export function show(message: Message, turn: number, redact: Redact): TranscriptMessage {
  switch (message.role) {
    case 'system':
    case 'user':
      return { turn, role: message.role, content: redact(message.text) };
    case 'assistant': {
      const calls = message.calls.map(({ call_id, tool, input }) => ({
        id: call_id,
        tool,
        input: redactJson(input, redact),
      }));
      const content = redact(message.text);
      return { turn, role: 'assistant', content, ...(calls.length === 0 ? {} : { tool_calls: calls }) };
    }
    case 'tool':
      return { turn, role: 'tool', content: textOfOutput(message.output, redact), tool_call_id: message.call_id };
  }
}

/** As it is sent: a text as it is, everything else as JSON. */
function textOfOutput(output: Json, redact: Redact): string {
  const clean = redactJson(output, redact);
  return typeof clean === 'string' ? clean : JSON.stringify(clean);
}
