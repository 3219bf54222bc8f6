import type { Redact } from '../../core/redaction/redact.ts';
import type { DeclaredRefs, Tool } from '../../define/define-tool.ts';
import { CAP } from '../../protocol/caps.ts';
import { sha256Hex } from '../../protocol/ids.ts';
import { defined, isRecord } from '../../protocol/json.ts';
import type { CallFailed } from '../../protocol/tools.ts';
import { toWellFormed } from '../../protocol/well-formed-text.ts';

/** Far more than a record keeps, so that ids are found behind results without one. */
const READ_RESULTS = 200;

interface FailedCall {
  input: unknown;
  /** Absent if the tool returned nothing. */
  output?: unknown;
  /** The query of a retrieval. */
  query?: string | undefined;
}

/**
 * Collects the ids of the query, the chunks and the evidence that a failed call was about: what the tool's `contextRefs`
 * returns, else the fields of its output and its input that have the usual names.
 */
export function readContextRefs(tool: Tool, call: FailedCall, redact: Redact): Pick<CallFailed, 'refs'> {
  const declared = declaredRefs(tool, call);
  const isRetrieval = tool.manifest.kind === 'retrieval';
  const found = [call.output, call.input].map((value) => refsIn(value, isRetrieval));
  const queryIds = [declared?.queryId, ...found.map(({ queryId }) => queryId), derivedQueryId(call.query)];
  const list = (name: 'chunkIds' | 'evidenceIds'): string[] | undefined => {
    const ids = cleanIds(declared?.[name] ?? found.flatMap((refs) => refs[name] ?? []), redact);
    return ids.length === 0 ? undefined : ids;
  };
  const refs = defined({
    query_id: cleanIds(queryIds, redact)[0],
    chunk_ids: list('chunkIds'),
    evidence_ids: list('evidenceIds'),
    span: [declared, ...found].map((one) => spanIn(one?.span)).find((span) => span !== undefined),
  });
  return Object.keys(refs).length === 0 ? {} : { refs };
}

/** A tool that cannot name its references fails for its own reason, and not for this one. */
function declaredRefs(tool: Tool, { input, output }: FailedCall): DeclaredRefs | undefined {
  try {
    const declared = tool.contextRefs?.(input, output);
    return isRecord(declared) ? declared : undefined;
  } catch {
    return undefined;
  }
}

interface FoundRefs {
  queryId?: unknown;
  chunkIds?: unknown[];
  evidenceIds?: unknown[];
  span?: unknown;
}

/**
 * Reads the fields of a value and, if it has a list of results, those of each result. Only the results of a retrieval are
 * chunks, so only there the field `id` names one.
 */
function refsIn(value: unknown, isRetrieval: boolean): FoundRefs {
  const fields = isRecord(value) ? value : {};
  const results = (Array.isArray(value) ? value : listIn(fields['results'])).slice(0, READ_RESULTS).filter(isRecord);
  return {
    queryId: fields['query_id'] ?? fields['queryId'],
    chunkIds: [
      ...idsIn(fields, 'chunk'),
      ...results.flatMap((result) => idsIn(result, 'chunk', isRetrieval ? result['id'] : undefined)),
    ],
    evidenceIds: [...idsIn(fields, 'evidence'), ...results.flatMap((result) => idsIn(result, 'evidence'))],
    span: fields['span'],
  };
}

function idsIn(fields: Record<string, unknown>, what: 'chunk' | 'evidence', otherwise?: unknown): unknown[] {
  const one = fields[`${what}_id`] ?? fields[`${what}Id`] ?? otherwise;
  return [one, ...listIn(fields[`${what}_ids`] ?? fields[`${what}Ids`])];
}

const listIn = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** Equal queries have equal ids, so that records of one query can be found even if the tool has no ids of its own. */
const derivedQueryId = (query: string | undefined): string | undefined =>
  query === undefined ? undefined : `query:${sha256Hex(query).slice(0, 16)}`;

function cleanIds(ids: unknown, redact: Redact): string[] {
  const plain = listIn(ids).filter((id) => (typeof id === 'string' && id !== '') || Number.isSafeInteger(id));
  const clean = plain.slice(0, READ_RESULTS).map((id) => toWellFormed(redact(String(id)).slice(0, CAP.refIdChars)));
  return [...new Set(clean)].slice(0, CAP.refIds);
}

function spanIn(span: unknown): [number, number] | undefined {
  if (!Array.isArray(span) || span.length !== 2) return undefined;
  const [from, to]: unknown[] = span;
  return Number.isSafeInteger(from) && Number.isSafeInteger(to) ? [from as number, to as number] : undefined;
}
