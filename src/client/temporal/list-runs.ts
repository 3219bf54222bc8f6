import type { Client } from '@temporalio/client';
import { sha256Hex, workflowIdOfRun } from '../../protocol/ids.ts';
import { defined } from '../../protocol/json.ts';
import { SEARCH_ATTRIBUTE } from '../../protocol/names.ts';
import type { RunFacts, RunLifeState, RunOutcome } from '../../protocol/run.ts';
import { SecondwindError } from '../../protocol/errors.ts';
import type { ArchivedRunItem } from '../../store/archived-runs.ts';
import type { Store } from '../../store/store.ts';
import type { AskedQuestion, ListedRun, RunFilter, RunPage } from '../views.ts';
import { matchesSearch, searchWords } from '../matches-search.ts';
import { scanRuns, type ScanPlace } from './search-runs.ts';
import { badCursor, IS_CLOSED, IS_OPEN, quoted, visibleRuns } from './visibility.ts';

export interface ListDeps {
  client: Client;
  searchAttributes: boolean;
  store: Store | undefined;
}

const DEFAULT_PAGE = 50;
const MAX_PAGE = 200;
/** The most ids in one list filter. */
const ARCHIVE_BATCH = 50;
/** The most batches for one page, because nearly all archived runs may still be in Temporal and be skipped. */
const MAX_BATCHES = 10;

const pageSize = (limit: number | undefined): number =>
  Math.min(MAX_PAGE, Math.max(1, Math.trunc(limit ?? DEFAULT_PAGE)));

/** Lists open and recent runs from Temporal, then those that only the archive still has. */
export async function listRuns(deps: ListDeps, filter: RunFilter): Promise<RunPage> {
  const size = pageSize(filter.limit);
  const where = conditions(deps, filter);
  const words = searchWords(filter.search ?? '');
  const name = [...where, ...words].join(' AND ');
  const cursor = readCursor(filter.cursor, name);
  if (cursor.from === 'archive') return fromArchive(deps, filter, cursor, size, name);
  const page =
    words.length === 0
      ? await pageOfRuns(deps.client, where, { from: cursor, size })
      : await scanRuns(deps.client, where, words, { from: cursor, size });
  if (page.next !== null)
    return { runs: page.runs, next_cursor: writeCursor({ from: 'temporal', ...page.next }, name) };
  if (deps.store === undefined || (filter.state !== undefined && filter.state !== 'ended'))
    return { runs: page.runs, next_cursor: null };
  // Retention deletes the oldest runs first, so every deleted run ended before the last one of this list.
  const { endedBefore } = page;
  const rest = await fromArchive(deps, filter, { from: 'archive', endedBefore }, size - page.runs.length, name);
  return { runs: [...page.runs, ...rest.runs], next_cursor: rest.next_cursor };
}

async function pageOfRuns(
  client: Client,
  where: readonly string[],
  { from, size }: { from: ScanPlace; size: number },
): Promise<Awaited<ReturnType<typeof scanRuns>>> {
  const { runs, token } = await visibleRuns(client, where, { size, token: from.token });
  const next = token === null ? null : { token, skip: 0 };
  return { runs, next, endedBefore: runs.at(-1)?.ended_at ?? undefined };
}

const QUESTIONS = 'questions';

/** Lists the open questions, which runs publish in their memo. */
export async function openQuestions(
  { client, searchAttributes }: ListDeps,
  { cursor, limit }: { cursor?: string; limit?: number },
): Promise<{ questions: AskedQuestion[]; next_cursor: string | null }> {
  const from = readCursor(cursor, QUESTIONS);
  if (from.from !== 'temporal') throw badCursor();
  const where = [IS_OPEN, ...(searchAttributes ? [`${SEARCH_ATTRIBUTE.state} = 'waiting_for_human'`] : [])];
  const page = await visibleRuns(client, where, { size: pageSize(limit), token: from.token });
  const questions = page.runs.flatMap(({ run_id, agent, goal, pending_question: question }) =>
    question === undefined ? [] : [{ run_id, agent, goal, ...question }],
  );
  return {
    questions,
    next_cursor: page.token === null ? null : writeCursor({ from: 'temporal', token: page.token, skip: 0 }, QUESTIONS),
  };
}

function conditions({ searchAttributes }: ListDeps, { state, agent, outcome, label }: RunFilter): string[] {
  if (!searchAttributes && (agent !== undefined || outcome !== undefined || label !== undefined || isOpenState(state)))
    throw new SecondwindError(
      'not_searchable',
      'This Temporal server does not have the search attributes of Secondwind.',
      'List without these filters, or have an operator register the attributes (docs/temporal.md).',
    );
  const equals = (name: string, value: string): string => `${name} = ${quoted(value)}`;
  return [
    ...(state === 'ended' ? [IS_CLOSED] : []),
    ...(state !== undefined && isOpenState(state) ? [IS_OPEN, equals(SEARCH_ATTRIBUTE.state, state)] : []),
    ...(agent === undefined ? [] : [equals(SEARCH_ATTRIBUTE.agent, agent)]),
    ...(outcome === undefined ? [] : [equals(SEARCH_ATTRIBUTE.outcome, outcome)]),
    ...(label === undefined ? [] : [equals(SEARCH_ATTRIBUTE.label, label)]),
  ];
}
const isOpenState = (state: RunLifeState | undefined): boolean => state !== undefined && state !== 'ended';

type ArchiveCursor = Extract<ListCursor, { from: 'archive' }>;

async function fromArchive(
  deps: ListDeps,
  filter: RunFilter,
  from: ArchiveCursor,
  room: number,
  name: string,
): Promise<RunPage> {
  const { store, client } = deps;
  if (store === undefined) return { runs: [], next_cursor: null };
  const { agent, outcome, label, search = '' } = filter;
  const words = searchWords(search);
  const wanted = { ...defined({ agent, outcome, label }), words };
  const runs: ListedRun[] = [];
  let { cursor } = from;
  for (let batches = 0; batches < MAX_BATCHES && runs.length < room; batches += 1) {
    const page = await store.archivedRuns.list({
      ...wanted,
      ...(from.endedBefore && { ended_before: from.endedBefore }),
      ...(cursor && { cursor }),
      limit: Math.min(ARCHIVE_BATCH, room - runs.length),
    });
    const known = await findVisible(client, page.items);
    const listed = page.items.filter((item) => !known.has(item.run_id)).map(archivedRun);
    runs.push(...listed.filter((run) => matchesSearch(run, words)));
    if (page.next_cursor === null) return { runs, next_cursor: null };
    cursor = page.next_cursor;
  }
  return { runs, next_cursor: writeCursor({ ...from, cursor }, name) };
}

/** Finds which archived runs Temporal still has, because those were listed already. */
async function findVisible(client: Client, items: readonly ArchivedRunItem[]): Promise<Set<string>> {
  if (items.length === 0) return new Set();
  const ids = items.map((item) => quoted(workflowIdOfRun(item.run_id))).join(', ');
  const { runs } = await visibleRuns(client, [`WorkflowId IN (${ids})`], { size: items.length });
  return new Set(runs.map((run) => run.run_id));
}

/** The parts of a summary that a list shows. */
const summaryOf = (item: ArchivedRunItem) =>
  item.summary as { facts?: RunFacts; result?: { used?: { attempts?: number } } };

const archivedRun = (item: ArchivedRunItem): ListedRun => ({
  run_id: item.run_id,
  agent: item.agent,
  goal: item.goal,
  state: 'ended',
  outcome: item.outcome as RunOutcome,
  labels: item.labels,
  ...defined({ tenant: summaryOf(item).facts?.tenant }),
  attempts: summaryOf(item).result?.used?.attempts ?? 0,
  started_at: item.started_at,
  ended_at: item.ended_at,
});

/** Where the next page starts: at a page token of Temporal, or in the archive. */
type ListCursor =
  | ({ from: 'temporal' } & ScanPlace)
  | { from: 'archive'; cursor?: string | undefined; endedBefore?: string | undefined };

const CHECKSUM_CHARS = 8;

/**
 * Adds a checksum over the cursor and its list. Temporal answers an invalid page token with an internal error, so a cursor that does
 * not belong to this list must be refused before it is sent.
 */
const withChecksum = (kind: string, bytes: Uint8Array, list: string): string => {
  const text = Buffer.from(bytes).toString('base64url');
  return kind + checksum(kind, text, list) + text;
};
const checksum = (kind: string, text: string, list: string): string =>
  sha256Hex(JSON.stringify([kind, text, list])).slice(0, CHECKSUM_CHARS);

function writeCursor(cursor: ListCursor, list: string): string {
  if (cursor.from === 'temporal') {
    const token = cursor.token ?? new Uint8Array();
    return withChecksum('t', Buffer.concat([Buffer.from(`${cursor.skip}:`), token]), list);
  }
  return withChecksum('a', Buffer.from(JSON.stringify([cursor.cursor ?? null, cursor.endedBefore ?? null])), list);
}

/** `list` names the list and its filters, because a cursor is valid for one list only. */
function readCursor(given: string | undefined, list: string): ListCursor {
  if (given === undefined) return { from: 'temporal', token: null, skip: 0 };
  const [kind, seal, text] = [given.slice(0, 1), given.slice(1, 1 + CHECKSUM_CHARS), given.slice(1 + CHECKSUM_CHARS)];
  if (seal !== checksum(kind, text, list)) throw badCursor();
  const bytes = Buffer.from(text, 'base64url');
  if (kind === 't') {
    const colon = bytes.indexOf(':');
    const token = bytes.subarray(colon + 1);
    const skip = Number(bytes.subarray(0, colon).toString());
    return { from: 'temporal', token: token.length === 0 ? null : token, skip };
  }
  const [cursor, endedBefore] = JSON.parse(bytes.toString('utf8')) as [string | null, string | null];
  return { from: 'archive', cursor: cursor ?? undefined, endedBefore: endedBefore ?? undefined };
}
