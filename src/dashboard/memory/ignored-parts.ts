import { replaceVolatileParts } from '../../core/failures/volatile-parts.ts';

export interface TextPart {
  text: string;
  /** The fingerprint does not depend on this part: a time, an id, a number that differs each time. */
  isIgnored: boolean;
}

const PLACEHOLDER = /<(?:uuid|time|date|hex|addr|duration|n|row|request|id)>/;

/** Splits a message into what its fingerprint depends on and what it ignores, with the patterns that make the fingerprint. */
export function splitIgnored(message: string): TextPart[] {
  const kept = replaceVolatileParts(message).split(PLACEHOLDER);
  const parts: TextPart[] = [];
  let position = 0;
  for (const [index, text] of kept.entries()) {
    const found = index === kept.length - 1 && text === '' ? message.length : message.indexOf(text, position);
    // The text of a placeholder could also be in the message itself; then nothing can be told apart.
    if (found === -1) return [{ text: message, isIgnored: false }];
    if (found > position) parts.push({ text: message.slice(position, found), isIgnored: true });
    if (text !== '') parts.push({ text, isIgnored: false });
    position = found + text.length;
  }
  if (position < message.length) parts.push({ text: message.slice(position), isIgnored: true });
  return parts;
}
