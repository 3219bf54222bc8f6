import { salientLine } from '../../core/failures/salient-line.ts';
import type { Redact } from '../../core/redaction/redact.ts';
import { CAP } from '../../protocol/caps.ts';
import { wholeText } from '../../protocol/text.ts';

/** Cut to at most so many characters, never in the middle of a surrogate pair. */
export function cutTo(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const last = text.charCodeAt(chars - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? chars - 1 : chars);
}

/**
 * The line of a message that says what is wrong, clean and capped. Secrets go before the line is chosen, since one may
 * span several lines, and once more after it, since removing control characters may put a secret together.
 */
export const preview = (message: string, redact: Redact): string =>
  cutTo(wholeText(redact(salientLine(redact(message)))), CAP.messagePreviewChars);

/** The start and the end of a long text: a failure is told at its end (a runner) or at its start (a compiler). */
export function headAndTail(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const head = Math.floor(chars / 4);
  return `${text.slice(0, head)}\n${text.slice(text.length - (chars - head))}`;
}
