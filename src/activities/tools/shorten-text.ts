import { salientLine } from '../../core/failures/salient-line.ts';
import type { Redact } from '../../core/redaction/redact.ts';
import { CAP } from '../../protocol/caps.ts';
import { toWellFormed } from '../../protocol/well-formed-text.ts';

/** Cuts a text to a number of characters, never in the middle of a surrogate pair. */
export function truncate(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const last = text.charCodeAt(chars - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? chars - 1 : chars);
}

/**
 * The line of a message that says what is wrong, redacted and capped. The text is redacted before the line is chosen,
 * because a secret may span several lines, and again afterwards, because removing control characters may join the parts
 * of a secret.
 */
export const preview = (message: string, redact: Redact): string =>
  truncate(toWellFormed(redact(salientLine(redact(message)))), CAP.messagePreviewChars);

/**
 * Keeps the start and the end of a long text, because test runners report a failure at the end and compilers at the
 * start.
 */
export function headAndTail(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const head = Math.floor(chars / 4);
  return `${text.slice(0, head)}\n${text.slice(text.length - (chars - head))}`;
}
