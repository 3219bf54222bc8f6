import { sql } from 'kysely';
import type { Kysely, RawBuilder, Transaction } from 'kysely';
import { createScore, isSameError, SAME_ERROR, shareWords, weighWords } from '../core/recall/match-texts.ts';
import type { AskedWord, SearchedText } from '../core/recall/match-texts.ts';
import { normalHash } from '../core/recall/normal-form.ts';
import { readSearchedText, typedWords } from '../core/recall/search-words.ts';
import { cleanText } from './clean-text.ts';
import type { Tables } from './tables.ts';

export interface ErrorSearch {
  scopes: readonly string[];
  /** The message, or a part of it. */
  text: string;
  fingerprint?: string | undefined;
}

export type MatchReason = 'same_fingerprint' | 'same_message' | 'similar';

/** A lesson or a known failure that speaks about an error. */
export interface FoundText {
  reflection_id: number | null;
  fingerprint: string | null;
  reason: MatchReason;
  /** 1 for an equal fingerprint or message, less for a similar one. */
  score: number;
}

/** How many texts are compared word by word. Those that share most come first. */
const CANDIDATES = 200;
/** How many of those that are the same error are compared by trigrams too, which is the most expensive part. */
const SCORED = 50;
/** A word that more texts have says little, so a search does not begin with it. */
const FREQUENT = 4_000;
/** A word that fewer texts have is always worth reading. */
const OFTEN = 200;

/** Texts about an error: those with its fingerprint, then those with the same message, then similar ones, the best first. */
export async function findErrorTexts(
  trx: Transaction<Tables>,
  search: ErrorSearch,
  which: RawBuilder<unknown>,
): Promise<FoundText[]> {
  const exact = await findExact(trx, search, which);
  const known = new Set(exact.map(ownerOf));
  const similar = (await findSimilar(trx, search, which)).filter((found) => !known.has(ownerOf(found)));
  return [...exact, ...similar];
}

const ownerOf = ({ reflection_id, fingerprint }: Omit<FoundText, 'reason' | 'score'>): string =>
  reflection_id === null ? `f${fingerprint}` : `l${reflection_id}`;

type Owner = Pick<FoundText, 'reflection_id' | 'fingerprint'>;

/** Texts with the same fingerprint or the same message. */
export async function findExact(
  trx: Transaction<Tables>,
  { scopes, text, fingerprint }: ErrorSearch,
  which: RawBuilder<unknown>,
): Promise<FoundText[]> {
  const about = fingerprint === undefined ? null : cleanText(fingerprint);
  const { rows } = await sql<Owner & { same: boolean | null }>`
    select t.reflection_id, t.fingerprint, bool_or(t.fingerprint = ${about}::text) as same
    from recall_texts as t
    where t.scope_key = any(${scopes}::text[]) and ${which}
      and (t.fingerprint = ${about}::text or t.normal_hash = ${normalHash(cleanText(text))}::text)
    group by t.reflection_id, t.fingerprint`.execute(trx);
  const found = rows.map(({ same, ...owner }): FoundText => ({
    ...owner,
    reason: same ? 'same_fingerprint' : 'same_message',
    score: 1,
  }));
  return bestOfEach(found.sort((one, other) => Number(isFirst(other)) - Number(isFirst(one))));
}

const isFirst = ({ reason }: FoundText): boolean => reason === 'same_fingerprint';

/** Texts about the same error in other words, the best first. */
export async function findSimilar(
  trx: Transaction<Tables>,
  { scopes, text }: ErrorSearch,
  which: RawBuilder<unknown>,
): Promise<FoundText[]> {
  const searched = readSearchedText(cleanText(text));
  const all = [...searched.words, ...searched.passing];
  if (searched.words.length === 0) return [];
  const counts = await countTexts(trx, all, scopes);
  const asked = weighWords(searched, counts);
  const begin = wordsToBeginWith(asked, counts);
  if (begin.length === 0) return [];
  const score = createScore(asked);
  const texts = await findCandidates(trx, { scopes, asked, begin }, which);
  const found = texts
    .map(({ words, passing, ...owner }) => {
      const text = { words, passing };
      return { owner, text, shared: shareWords(asked, text) };
    })
    .filter(({ text, shared }) => isSameError(shared, text))
    .slice(0, SCORED)
    .map(({ owner, text, shared }): FoundText => ({ ...owner, reason: 'similar', score: score(text, shared) }));
  return bestOfEach(found.sort((one, other) => other.score - one.score));
}

/**
 * The words whose texts are read. The most frequent ones are left out as long as they cannot make a text the same error by
 * themselves: a text that has only these is never accepted.
 */
function wordsToBeginWith(asked: readonly AskedWord[], counts: ReadonlyMap<string, number>): AskedWord[] {
  const count = ({ word }: AskedWord): number => counts.get(word) ?? 0;
  const known = asked.filter((word) => count(word) > 0).sort((one, other) => count(other) - count(one));
  let leftOut = 0;
  return known.filter((word) => {
    if (count(word) >= FREQUENT) return false;
    leftOut += word.weight;
    return count(word) < OFTEN || leftOut >= SAME_ERROR.bits;
  });
}

/** A lesson may have several texts; the best one counts. */
function bestOfEach(sorted: readonly FoundText[]): FoundText[] {
  const seen = new Set<string>();
  return sorted.filter((found) => {
    const owner = ownerOf(found);
    if (seen.has(owner)) return false;
    seen.add(owner);
    return true;
  });
}

async function countTexts(
  trx: Transaction<Tables>,
  words: readonly string[],
  scopes: readonly string[],
): Promise<Map<string, number>> {
  const { rows } = await sql<{ word: string; texts: number }>`
    select q.word, (
      select count(*)::int from (
        select from recall_words as w where w.word = q.word and w.scope_key = any(${scopes}::text[]) limit ${FREQUENT}
      ) as w
    ) as texts
    from unnest(${words}::text[]) as q (word)`.execute(trx);
  return new Map(rows.map(({ word, texts }) => [word, texts]));
}

interface CandidateSearch {
  scopes: readonly string[];
  asked: readonly AskedWord[];
  /** The asked words that are rare enough to begin with. */
  begin: readonly AskedWord[];
}

/**
 * Every text that `isSameError` may accept. The words that were left out could add their whole weight, so the limits are lower by
 * that much.
 */
async function findCandidates(
  trx: Transaction<Tables>,
  { scopes, asked, begin }: CandidateSearch,
  which: RawBuilder<unknown>,
): Promise<(Owner & SearchedText)[]> {
  const sum = (words: readonly AskedWord[]): number => words.reduce((total, { weight }) => total + weight, 0);
  const leftOut = asked.length - begin.length;
  const weightLeftOut = sum(asked) - sum(begin);
  const required = sum(asked.filter(({ passing }) => !passing));
  const { ofAsked, ofText, bits, wordsOfText } = SAME_ERROR;
  const { rows } = await sql<Owner & { words: string[]; passing: string[] }>`
    select t.reflection_id, t.fingerprint, t.words, t.passing
    from (
      select
        w.text_id, count(*) as words, sum(q.weight) as weight,
        coalesce(sum(q.weight) filter (where q.passing), 0) as passing
      from unnest(
        ${begin.map(({ word }) => word)}::text[], ${begin.map(({ weight }) => weight)}::int[],
        ${begin.map(({ passing }) => passing)}::boolean[]
      ) as q (word, weight, passing)
      cross join lateral (
        select text_id from recall_words as w where w.word = q.word and w.scope_key = any(${scopes}::text[]) offset 0
      ) as w
      group by w.text_id
    ) as hit
    join recall_texts as t on t.id = hit.text_id
    where ${which}
      and hit.weight + ${weightLeftOut}::int >= ${bits}::int
      and (
        hit.weight + ${weightLeftOut}::int >= ${ofAsked}::float8 * (${required}::int + hit.passing)
        or (
          hit.words + ${leftOut}::int >= ${wordsOfText}::int
          and hit.words + ${leftOut}::int >= ${ofText}::float8 * cardinality(t.words)
        )
      )
    order by hit.weight desc, t.id
    limit ${CANDIDATES}`.execute(trx);
  return rows;
}

export interface TypedSearch {
  /** What a person typed: words, or beginnings of words, of a message, a lesson, a tool or a code. */
  typed: string;
  /** Whose texts; without it those of all tenants. */
  tenant?: string | null | undefined;
}

/** With more typed words than this, one in four may be missing. */
const ALL_OF = 3;
const MOST_OF = 0.75;
/** The most texts per typed word. A beginning such as "e" matches nearly all. */
const PER_WORD = 5_000;
/** Sorts behind every text. */
const LAST_CHARACTER = '\u{10FFFF}';

/** Finds what has the words that a person typed, each as a beginning of a word. The number says how many it has. */
export async function findTyped(
  db: Kysely<Tables>,
  { typed, tenant }: TypedSearch,
  which: RawBuilder<unknown>,
): Promise<(Owner & { share: number })[]> {
  const asked = typedWords(cleanText(typed));
  if (asked.length === 0) return [];
  const forms = asked.flatMap((word, index) => word.map((form) => ({ form, index })));
  const least = asked.length <= ALL_OF ? asked.length : Math.ceil(MOST_OF * asked.length);
  // A tenant's keys begin with its name; '0' is the character after '/'.
  const ofTenant =
    typeof tenant === 'string'
      ? sql`and w.scope_key >= ${`tenant:${cleanText(tenant)}/`} and w.scope_key < ${`tenant:${cleanText(tenant)}0`}`
      : sql``;
  const { rows } = await sql<Owner & { matched: number }>`
    select t.reflection_id, case when t.reflection_id is null then t.fingerprint end as fingerprint,
      count(distinct q.index)::int as matched
    from unnest(${forms.map(({ form }) => form)}::text[], ${forms.map(({ index }) => index)}::int[]) as q (form, index)
    cross join lateral (
      select text_id from recall_words as w
      where w.word >= q.form and w.word < q.form || ${LAST_CHARACTER} ${ofTenant}
      limit ${PER_WORD}
    ) as w
    join recall_texts as t on t.id = w.text_id
    where ${which}
    group by 1, 2
    having count(distinct q.index) >= ${least}
    order by matched desc, max(t.id) desc
    limit ${CANDIDATES}`.execute(db);
  return rows.map(({ matched, ...owner }) => ({ ...owner, share: matched / asked.length }));
}

/** Of a lesson that was edited, only the latest content counts. */
export const OF_LESSONS = sql`(
  t.reflection_id is not null
  and (
    t.part <> 'content'
    or t.id = (select max(o.id) from recall_texts as o where o.reflection_id = t.reflection_id and o.part = 'content')
  )
)`;
export const OF_FAILURES = sql`t.reflection_id is null`;
/** What a lesson says about an error: the errors it was learnt from, or its content if none is known. */
export const ERRORS_OF_LESSONS = sql`(
  t.part = 'error'
  or (
    ${OF_LESSONS} and t.part = 'content'
    and not exists (
      select from recall_texts as e where e.reflection_id = t.reflection_id and e.part = 'error' and e.words <> '{}'
    )
  )
)`;
