import { isRecord, type Json } from '../../protocol/json.ts';

/** What stands where a secret was left out. */
const MARK = /\[redacted:[a-z_]{1,40}\]/;

/**
 * Returns the path of the first text that has the mark of a redacted secret, or null. An input that a person copied from what is
 * shown and sends back would otherwise run with the mark in place of the secret.
 */
export function findMark(value: Json, path = '$'): string | null {
  if (typeof value === 'string') return MARK.test(value) ? path : null;
  if (Array.isArray(value)) return firstOf(value.map((item, index) => () => findMark(item, `${path}[${index}]`)));
  if (!isRecord(value)) return null;
  return firstOf(
    Object.entries(value).map(
      ([key, item]) =>
        () =>
          findMark(item, `${path}.${key}`),
    ),
  );
}

const firstOf = (searches: readonly (() => string | null)[]): string | null => {
  for (const search of searches) {
    const found = search();
    if (found !== null) return found;
  }
  return null;
};
