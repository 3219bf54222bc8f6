import { CAP } from '../../protocol/caps.ts';
import type { Json } from '../../protocol/json.ts';
import { toWellFormed } from '../../protocol/well-formed-text.ts';
import { redactJson, type Redact } from './redact.ts';

/**
 * Returns a value as people may see it: redacted and, if its JSON is longer than the cap, as a text with the beginning of that JSON.
 * It is redacted before it is cut, because half a secret is no longer recognised.
 */
export function previewJson(value: Json, redact: Redact): Json {
  const clean = redactJson(value, redact);
  const text = JSON.stringify(clean);
  return text.length <= CAP.previewChars ? clean : cutText(text, text.length);
}

/** Returns the beginning of a text that is too long to be read whole. `chars` is the length of the whole text. */
export const previewText = (text: string, chars: number, redact: Redact): string => cutText(redact(text), chars);

const cutText = (text: string, chars: number): string =>
  `${toWellFormed(text.slice(0, CAP.previewChars))}… (${chars} characters in all)`;
