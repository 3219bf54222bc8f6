import { findJsonSpan } from './json-span.ts';
import type { ModelApi } from './read-conversation.ts';

/** A text that goes to the end of the result at a path. */
export interface Guidance {
  path: readonly (string | number)[];
  text: string;
}

/** A part of a content that is a list, in the words of the API. */
const textPart = (api: ModelApi, text: string): string =>
  JSON.stringify(api === 'responses' ? { type: 'input_text', text } : { type: 'text', text });

/** What to insert at which position of the body. Null if the result has a shape that cannot carry a text. */
const insertion = (body: string, api: ModelApi, { path, text }: Guidance): { at: number; added: string } | null => {
  const span = findJsonSpan(body, path);
  if (span === null) return null;
  const value = body.slice(span.start, span.end);
  if (value.startsWith('"')) {
    const gap = value === '""' ? '' : '\n\n';
    return { at: span.end - 1, added: JSON.stringify(gap + text).slice(1, -1) };
  }
  if (!value.startsWith('[')) return null;
  const isEmpty = /^\[\s*\]$/.test(value);
  return { at: span.end - 1, added: `${isEmpty ? '' : ','}${textPart(api, text)}` };
};

/**
 * Puts guidance at the end of results, and changes nothing else of the body: not a byte of its layout, and no number
 * that JavaScript could not represent.
 */
export const insertGuidance = (body: string, api: ModelApi, guidance: readonly Guidance[]): string => {
  const all = guidance.flatMap((one) => insertion(body, api, one) ?? []).toSorted((one, other) => one.at - other.at);
  let written = '';
  let from = 0;
  for (const { at, added } of all) {
    written += body.slice(from, at) + added;
    from = at;
  }
  return written + body.slice(from);
};
