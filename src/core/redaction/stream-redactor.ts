import type { Redact } from './known-values.ts';
import { isSecretName } from './secret-names.ts';

/** Redacts a text that arrives in pieces. */
export interface StreamRedactor {
  /** Takes the next piece and returns what can be shown now. The rest is held back. */
  push(text: string): string;
  /** Returns what was held back. The text is complete. */
  end(): string;
}

/** Stands for a part that looked harmless when its beginning was shown, and does not look so any more. */
const LEFT_OUT = '[…]';
/** How much of the text before a piece decides what the piece is. The longest private keys are shorter. */
const CONTEXT_CHARS = 24 * 1024;
/** A known secret of more words than this stays hidden until the text ends. */
const MOST_TRIES = 30;
const TRIMMED_CHARS = 2 * CONTEXT_CHARS;

/**
 * Creates a redactor for a text that arrives in pieces. It shows whole words only, and holds back whatever the text that
 * follows may still turn into a secret, so that no part of a secret is shown, wherever the pieces are cut.
 *
 * @param holdChars how much to hold back at least: the length of the longest known secret that contains spaces
 */
export function createStreamRedactor(redact: Redact, holdChars = 0): StreamRedactor {
  let text = '';
  let shown = 0;
  const showUpTo = (end: number): string => {
    if (end <= shown) return '';
    const before = redact(text.slice(0, shown));
    const after = redact(text.slice(0, end));
    shown = end;
    if (shown > TRIMMED_CHARS) {
      const start = text.lastIndexOf('\n', shown - CONTEXT_CHARS) + 1 || shown - CONTEXT_CHARS;
      text = text.slice(start);
      shown -= start;
    }
    return after.startsWith(before) ? after.slice(before.length) : LEFT_OUT;
  };
  /** Moves an end that would cut something into two which is a secret as a whole. */
  const wholeEnd = (wanted: number): number => {
    let end = wanted;
    const all = end > shown ? redact(text) : '';
    for (let tries = 0; end > shown; tries += 1) {
      if (all.startsWith(redact(text.slice(0, end)))) return end;
      end = tries < MOST_TRIES ? lastSpace(text, end - 1) + 1 : shown;
    }
    return shown;
  };
  return {
    push: (piece) => {
      text += piece;
      return showUpTo(wholeEnd(findSafeEnd(text, shown, holdChars)));
    },
    end: () => showUpTo(text.length),
  };
}

/** Returns the end of the part that can be shown, whatever follows. */
function findSafeEnd(text: string, shown: number, holdChars: number): number {
  const limit = text.length - holdChars;
  // The last word may go on, and only the whole word tells whether it is a secret.
  let end = lastSpace(text, limit) + 1;
  if (end <= shown) return shown;
  for (const findOpen of OPEN_BLOCKS) {
    const start = findOpen(text, end);
    if (start !== -1) end = Math.min(end, start);
  }
  end = beforeKeyLines(text, end);
  return Math.max(shown, end);
}

function lastSpace(text: string, before: number): number {
  for (let at = Math.min(before, text.length) - 1; at >= 0; at -= 1) if (/\s/.test(text.charAt(at))) return at;
  return -1;
}

/** Each returns where a block begins that is not complete at `end`, or -1. Only its end tells what it was. */
const OPEN_BLOCKS: readonly ((text: string, end: number) => number)[] = [
  (text, end) => {
    const start = text.lastIndexOf('-----BEGIN', end - 1);
    if (start === -1) return -1;
    const ending = text.indexOf('-----END', start);
    const isComplete = ending !== -1 && text.indexOf('-----', ending + 8) !== -1;
    return isComplete ? -1 : start;
  },
  (text, end) => {
    const start = text.lastIndexOf('-----END', end - 1);
    return start === -1 || text.indexOf('-----', start + 8) !== -1 ? -1 : start;
  },
  (text) => text.indexOf('Private-Lines:'),
  // The kind of a Kubernetes object may come after its data.
  (text) => (/apiVersion|\bkind\b/.test(text) ? text.search(/(?:string)?data\\{0,3}["']?\s{0,3}:/i) : -1),
  (text, end) => {
    const open = OPEN_MEMBER.exec(text.slice(Math.max(0, end - MEMBER_CHARS), end));
    return open !== null && isSecretName(open[1] ?? '') ? Math.max(0, end - MEMBER_CHARS) + open.index : -1;
  },
];
const MEMBER_CHARS = 2_200;
/** `"password": {` without its closing bracket. */
const OPEN_MEMBER = /["']([^"'\s]{1,80})\\{0,3}["']\s{0,3}:\s{0,3}[{[][^{}[\]]{0,2000}$/;

const KEY_WORD = /^[A-Za-z0-9+/=\\]{16,}$/;

/** Lines of base64 at the end may be a private key that only its last line gives away. */
function beforeKeyLines(text: string, end: number): number {
  let start = end;
  for (;;) {
    const wordEnd = text.slice(0, start).trimEnd().length;
    const wordStart = lastSpace(text, wordEnd) + 1;
    if (!KEY_WORD.test(text.slice(wordStart, wordEnd))) return start;
    start = wordStart;
  }
}
