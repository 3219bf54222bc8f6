/**
 * That no regular expression of the core can be made slow by the text it reads. recheck decides it by automata theory
 * (`checker: 'automaton'`), which is exact. Its other checker guesses by trying: it calls patterns with bounded repeats
 * polynomial because they are so below their bound, where all of this text is short.
 */
import { checkSync } from 'recheck';
import { beforeAll, describe, expect, it } from 'vitest';
import { allRegexes, type Found } from './regexes.ts';

/** What recheck's automata do not know: a look-behind beside an unbounded repeat. Each is measured instead. */
const MEASURED: { source: string; reason: string; hostile: (chars: number) => string }[] = [
  {
    source: String.raw`(?<!>)[^\s'"` + '`' + String.raw`(),;=<>|[\]{}]+`,
    reason: 'one class, repeated; a search goes on where the last match ended',
    hostile: (chars) => `${'a'.repeat(chars / 2)}${'>a'.repeat(chars / 4)}`,
  },
  {
    source: '(?<![A-Za-z0-9])[0-9A-Fa-f]{12,}(?![A-Za-z0-9])',
    reason: 'can start only at the start of a word, so every letter is read at most twice',
    hostile: (chars) => `${'f'.repeat(chars / 2)}g ${'0123456789abcdefz '.repeat(chars / 36)}`,
  },
  {
    source: String.raw`(?<=[\p{L},;:…] )\p{Lu}\p{Ll}[\p{L}-]*`,
    reason: 'can start only at the start of a word',
    hostile: (chars) => `a ${'Aa'.repeat(chars / 4)} ${'a A'.repeat(chars / 6)}`,
  },
  {
    source: String.raw`(?<says>(?:code|status|errno|exit|signal|http|version)[ :=#]{1,3})?(?<![\p{L}\p{N}_])\p{N}[\p{N}.,_]*`,
    reason: 'a number can start only where no letter or digit is before it, and a search goes on after it',
    hostile: (chars) => `${'1.'.repeat(chars / 4)} ${'a1'.repeat(chars / 8)}${'code:'.repeat(chars / 20)}`,
  },
];

let regexes: Found[] = [];
beforeAll(async () => {
  // Decided here and not in parallel: the pure JavaScript of recheck needs no other program on the machine.
  process.env.RECHECK_SYNC_BACKEND = 'pure';
  regexes = await allRegexes();
}, 60_000);

function milliseconds(regex: RegExp, text: string): number {
  let least = Infinity;
  // The quickest of many: whatever else the machine, or another thread of this process, does only ever adds.
  for (let round = 0; round < 15; round += 1) {
    const start = performance.now();
    text.replace(regex, '');
    least = Math.min(least, performance.now() - start);
  }
  return least;
}

describe('the regular expressions of the core', () => {
  it('are all found, those that are built from strings too', () => {
    expect(regexes.length).toBeGreaterThan(400);
    expect(regexes.filter(({ where }) => where.endsWith('(built)')).length).toBeGreaterThan(10);
    for (const room of ['feedback', 'failures', 'retry', 'redaction', 'lessons'])
      expect(regexes.some(({ where }) => where.startsWith(`${room}/`))).toBe(true);
  });

  it('take linear time, as recheck proves', { timeout: 120_000 }, () => {
    const measured = new Set(MEASURED.map(({ source }) => source));
    const doubtful: string[] = [];
    for (const { where, source, flags } of regexes) {
      if (measured.has(source)) continue;
      const verdict = checkSync(source, flags, { checker: 'automaton', timeout: 10_000 });
      if (verdict.status !== 'safe') doubtful.push(`${where} is ${verdict.status}: ${source}`);
    }
    expect(doubtful).toEqual([]);
  });

  it.each(MEASURED)('take linear time, as measured where recheck cannot tell: $source', ({ source, hostile }) => {
    const found = regexes.find((regex) => regex.source === source);
    expect(found).toBeDefined();
    const regex = new RegExp(source, found?.flags);
    milliseconds(regex, hostile(100_000));
    // A second of grace for a busy machine: both take a few ms, and anything worse than linear takes minutes.
    expect(milliseconds(regex, hostile(2_000_000))).toBeLessThan(milliseconds(regex, hostile(1_000_000)) * 3 + 1_000);
  });

  it('would not pass if one of them were quadratic', () => {
    expect(checkSync(String.raw`\s+$`, '', { checker: 'automaton' }).status).toBe('vulnerable');
  });
});
