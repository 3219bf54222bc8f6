import type { ContextRefs } from '../../protocol/schemas/failure-record.ts';

/** Names what a failure was about, for people: the query, the chunks and the evidence. Artifacts are not listed. */
export function describeRefs(refs: ContextRefs): { name: string; value: string }[] {
  const { query_id, chunk_id, chunk_ids = [], span, evidence_id, evidence_ids = [] } = refs;
  const list = (one: string | undefined, others: readonly string[]): string =>
    [...(one === undefined ? [] : [one]), ...others].join(', ');
  const rows = [
    { name: 'query', value: query_id ?? '' },
    { name: 'chunks', value: list(chunk_id, chunk_ids) },
    { name: 'span', value: span === undefined ? '' : `${span[0]} to ${span[1]}` },
    { name: 'evidence', value: list(evidence_id, evidence_ids) },
  ];
  return rows.filter(({ value }) => value !== '');
}
