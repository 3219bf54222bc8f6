/** Pure functions: by which words a text is found, and when two texts are about the same error. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSameError, shareWords, weighWords } from '../../../../src/core/recall/match-texts.ts';
import { normalForm, normalHash } from '../../../../src/core/recall/normal-form.ts';
import { readSearchedText, searchWords, typedWords } from '../../../../src/core/recall/search-words.ts';

/** As a memory that knows only these texts would decide. */
function isSame(asked: string, known: string, textsWith = new Map<string, number>()): boolean {
  const text = readSearchedText(known);
  return isSameError(shareWords(weighWords(readSearchedText(asked), textsWith), text), text);
}

describe('the normal form of a message', () => {
  it.each([
    ['other numbers', 'limit 500 is over 100', 'limit 30 is over 10'],
    [
      'other ids',
      'order 2f9c1d52-91a8-4c30-8b1f-0d3c8f3b7a11 is locked',
      'order 7a1be0f4-22cd-4f0e-9a55-5b8d2e6c9f02 is locked',
    ],
    ['other folders', "cannot open '/srv/a/config.yaml'", "cannot open '/home/b/config.yaml'"],
    ['case and punctuation', 'Socket hang-up!', 'socket hang up'],
  ])('is the same with %s', (_what, one, other) => {
    expect(normalForm(one)).toBe(normalForm(other));
  });

  it.each([
    ['another status', 'request failed with status code 404', 'request failed with status code 500'],
    ['another name', 'relation "orders" does not exist', 'relation "invoices" does not exist'],
  ])('differs with %s', (_what, one, other) => {
    expect(normalForm(one)).not.toBe(normalForm(other));
  });

  it('a text without a word is like no other', () => {
    expect(normalHash('404')).toBeNull();
    expect(normalHash(' !? ')).toBeNull();
  });
});

describe('the words of a text', () => {
  it('leave out numbers, ids, times, paths and words that every error has', () => {
    const text =
      'Error: could not open /srv/app/prod.yaml for tenant ord_8XK2C1 at 2026-01-02T03:04:05Z after 3 retries';
    expect(searchWords(text)).toEqual(['open', 'tenant', 'retrie']);
    expect(readSearchedText(text).passing).toEqual(expect.arrayContaining(['prod', 'yaml', '#ord_8xk2c1']));
  });

  it('keep common words if there are no others', () => {
    expect(searchWords('not found')).toEqual(['not', 'found']);
  });

  it('are pairs of characters in a script without spaces', () => {
    expect(searchWords('接続拒否')).toEqual(['接続', '続拒', '拒否']);
  });

  it('do not depend on the order, on case or on values', () => {
    const word = fc.constantFrom('quota', 'bucket', 'region', 'mirror', 'ledger', 'checksum', 'replica');
    fc.assert(
      fc.property(fc.uniqueArray(word, { minLength: 2 }), fc.nat(), fc.uuid(), (words, n, id) => {
        const one = `${words.join(' ')} ${n} ${id}`;
        const other = [...words].reverse().join(', ').toUpperCase();
        expect(new Set(searchWords(one))).toEqual(new Set(searchWords(other)));
      }),
    );
  });

  it('are found in linear time in any text', () => {
    for (const hostile of ['/a'.repeat(50_000), 'a.'.repeat(50_000), '_'.repeat(100_000), '語'.repeat(50_000)]) {
      const startedAt = performance.now();
      readSearchedText(hostile);
      typedWords(hostile);
      expect(performance.now() - startedAt).toBeLessThan(2_000);
    }
  });
});

describe('two messages', () => {
  const known = 'duplicate delivery 4711 for queue thumbnails rejected by broker edge.example in /srv/jobs/list.csv';

  it.each([
    ['other values', 'duplicate delivery 3 for queue thumbnails rejected by broker edge.example in /home/x/notes.md'],
    ['another order', 'broker edge.example rejected duplicate delivery for thumbnails queue'],
    ['its first half', known.slice(0, known.length / 2)],
    ['its second half', known.slice(known.length / 2)],
    ['words around it', `RuntimeError: step 3 could not finish because ${known} (attempt 2 of 3)`],
  ])('are about the same error with %s', (_what, asked) => {
    expect(isSame(asked, known)).toBe(true);
  });

  it.each([
    'mailbox of ada unavailable, relay refused recipient',
    'delivery date lies on a public holiday',
    'queue is empty',
    'failed',
    '',
  ])('are not about the same error: %s', (asked) => {
    expect(isSame(asked, known)).toBe(false);
  });

  it('are not about the same error if they share only words that many texts have', () => {
    const frequent = new Map(['request', 'timeout', 'server'].map((word) => [word, 9_000]));
    expect(isSame('request timeout server', 'server: request timeout of billing export', frequent)).toBe(false);
  });

  it('a whole message is always about the same error as itself, if it has two telling words', () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[a-z]{4,9}$/), { minLength: 2, maxLength: 12 }), (words) => {
        const text = words.join(' ');
        fc.pre(searchWords(text).length > 1);
        expect(isSame(text, text)).toBe(true);
      }),
    );
  });
});

describe('typed words', () => {
  it('stand for the word and for its exact name', () => {
    expect(typedWords('HTTP_503 orders')).toEqual([
      ['http_0', 'http_503'],
      ['order', 'orders'],
    ]);
  });

  it('are an id, if nothing else was typed', () => {
    expect(typedWords('4711')).toEqual([['#4711']]);
  });
});
