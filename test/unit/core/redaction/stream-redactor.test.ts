/** Secrets in a text that arrives in pieces, wherever the pieces are cut. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../../../src/core/redaction/redact.ts';
import { createStreamRedactor } from '../../../../src/core/redaction/stream-redactor.ts';
import { secretFormats } from '../../../support/secret-formats.ts';

const redact = createRedactor();

/** Pushes a text in pieces that end at the given shares of its length. */
function streamed(text: string, cuts: readonly number[], holdChars = 0, redactor = redact): string[] {
  const stream = createStreamRedactor(redactor, holdChars);
  const ends = [...new Set([...cuts.map((share) => Math.floor(share * text.length)), text.length])].sort(
    (a, b) => a - b,
  );
  let from = 0;
  const shown = ends.map((end) => {
    const piece = stream.push(text.slice(from, end));
    from = end;
    return piece;
  });
  return [...shown, stream.end()];
}
const anyCuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 40 });
const eachChar = (text: string): number[] => Array.from({ length: text.length }, (_, at) => at / text.length);

/** Whether a text shows a part of a secret from which it could be guessed. */
function shows(text: string, secret: string): boolean {
  const part = Math.min(secret.length, 12);
  for (let at = 0; at + part <= secret.length; at += 1) {
    const piece = secret.slice(at, at + part);
    if (piece.trim().length === part && text.includes(piece)) return true;
  }
  return false;
}

describe('a redactor of text in pieces', () => {
  it('shows no part of a secret in any known format, character by character', () => {
    const leaks = secretFormats().filter(({ text, secret }) => {
      const whole = `Here it is, as you asked:\n${text}\nand that is all of it.`;
      // What the redactor of whole texts leaves is not the business of this one.
      return !shows(redact(whole), secret) && shows(streamed(whole, eachChar(whole)).join(''), secret);
    });
    expect(leaks.map(({ rule, text }) => `${rule}: ${text.slice(0, 60)}`)).toEqual([]);
  });

  it('shows no part of a secret wherever the pieces are cut', () => {
    const formats = secretFormats(7);
    fc.assert(
      fc.property(fc.nat(formats.length - 1), anyCuts, fc.lorem(), fc.lorem(), (index, cuts, before, after) => {
        const { text, secret } = formats[index] ?? { text: '', secret: '-' };
        const whole = `${before} ${text} ${after}`;
        if (shows(redact(whole), secret)) return;
        expect(shows(streamed(whole, cuts).join(''), secret), `${text} in ${cuts.join()}`).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });

  it('shows ordinary text unchanged, and all but its last word at once', () => {
    fc.assert(
      fc.property(fc.lorem({ maxCount: 30 }), anyCuts, (text, cuts) => {
        expect(streamed(text, cuts).join('')).toBe(text);
      }),
    );
    const stream = createStreamRedactor(redact);
    expect(stream.push('The tests fail bec')).toBe('The tests fail ');
    expect(stream.push('ause of a typo.')).toBe('because of a ');
    expect(stream.end()).toBe('typo.');
  });

  it('keeps known secrets with spaces back as well', () => {
    const phrase = 'correct horse battery staple';
    const redactor = createRedactor([phrase]);
    const whole = `It is ${phrase}, said the horse. ${'And so on. '.repeat(20)}`;
    const shown = streamed(whole, eachChar(whole), phrase.length + 4, redactor).join('');
    expect(shown).toContain('[redacted:known]');
    expect(shown).not.toContain('horse battery');
  });

  it('stays quick in a long text', () => {
    const stream = createStreamRedactor(redact);
    const began = performance.now();
    let shown = '';
    for (let n = 0; n < 400; n += 1) shown += stream.push(`line ${n}: ${'some words of a long answer '.repeat(20)}\n`);
    shown += stream.end();
    expect(shown.length).toBeGreaterThan(200_000);
    // About 2 s. Work that grew with the square of the text would take minutes.
    expect(performance.now() - began).toBeLessThan(30_000);
  });
});
