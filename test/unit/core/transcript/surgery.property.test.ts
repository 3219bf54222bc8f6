/** The surgery on 10,000 random conversations, and the growth of a request under repairs. Seeded; needs nothing. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Message } from '../../../../src/core/transcript/message.ts';
import { checkTranscript } from '../../../../src/core/transcript/check-transcript.ts';
import { joinNeighbours } from '../../../../src/core/transcript/join-neighbours.ts';
import { replaceFailedTail, replaceInvalidOutput } from '../../../../src/core/transcript/failed-tail.ts';
import { conversation, withRound } from '../../../support/conversations.ts';

const failedPairsOf = (messages: Message[]): number =>
  messages.filter((message) => message.role === 'tool' && message.failed === true).length;

describe('surgery on random conversations', () => {
  it(
    'replacing a failed tail leaves nothing that a provider refuses, and every pair that succeeded',
    { timeout: 120_000 },
    () => {
      let refused = 0;
      let operated = 0;
      fc.assert(
        fc.property(
          conversation,
          fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined }),
          fc.string({ maxLength: 300, unit: 'binary' }),
          (before, pairs, guidance) => {
            const options = pairs === undefined ? {} : { pairs };
            const { messages, removed_pairs } = replaceFailedTail(before, guidance, options);
            const problems = checkTranscript(joinNeighbours(messages));
            refused += problems.length > 0 ? 1 : 0;
            operated += removed_pairs > 0 ? 1 : 0;
            expect(problems).toEqual([]);
            const good = (all: Message[]): Message[] =>
              all.filter((message) => message.role === 'tool' && message.failed !== true);
            expect(good(messages)).toEqual(good(before));
            expect(messages.filter((message) => message.role === 'user' && message.guidance !== true)).toEqual(
              before.filter((message) => message.role === 'user' && message.guidance !== true),
            );
            expect(messages.at(-1)).toMatchObject({ role: 'user', guidance: true });
            const taken = failedPairsOf(before) - failedPairsOf(messages);
            expect(taken).toBeLessThanOrEqual(pairs ?? Number.POSITIVE_INFINITY);
          },
        ),
        { numRuns: 10_000, seed: 20_260_731 },
      );
      expect(refused).toBe(0);
      // The histories must be worth the word random: most of them have something to take out.
      expect(operated).toBeGreaterThan(5_000);
    },
  );

  it('a failed tail can be replaced again and again while the model keeps failing', () => {
    fc.assert(
      fc.property(
        conversation,
        fc.array(fc.array(fc.boolean(), { minLength: 1, maxLength: 4 }), { maxLength: 8 }),
        (start, rounds) => {
          let messages = replaceFailedTail(start, 'start').messages;
          for (const [turn, outcomes] of rounds.entries()) {
            messages = withRound(messages, `turn${turn}`, outcomes);
            messages = replaceFailedTail(messages, `lesson ${turn}`).messages;
            expect(checkTranscript(joinNeighbours(messages))).toEqual([]);
          }
        },
      ),
      { numRuns: 1_000, seed: 4 },
    );
  });
});

describe('the growth of a request', () => {
  const wireSize = (messages: Message[]): number =>
    new TextEncoder().encode(JSON.stringify(joinNeighbours(messages))).length;

  it.each([
    ['plain text', 'x'],
    ['JSON full of quotes', '{"a":"b"},'],
    ['line ends', '\n\t'],
    ['emoji', '😀'],
    ['control characters', '\u0001'],
  ])('stays under 44 KB over three invalid outputs of 40 KB: %s', (_name, piece) => {
    const base: Message[] = [{ role: 'user', text: 'give me the report as JSON' }];
    const output = piece.repeat(Math.ceil((40 * 1024) / piece.length));
    let messages = base;
    for (let repair = 1; repair <= 3; repair += 1) {
      messages = replaceInvalidOutput(messages, output, `attempt ${repair}: ${'the output is no JSON. '.repeat(500)}`);
      expect(wireSize(messages) - wireSize(base)).toBeLessThanOrEqual(44_000);
      expect(checkTranscript(joinNeighbours(messages))).toEqual([]);
    }
    expect(wireSize(messages)).toBeGreaterThan(40_000);
  });

  it('a request stays bounded whatever the model said', () => {
    const base: Message[] = [{ role: 'user', text: 'go' }];
    const text = fc.string({ unit: 'binary', maxLength: 60_000, minLength: 1 });
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 3 }), text, (outputs, guidance) => {
        let messages = base;
        for (const output of outputs) messages = replaceInvalidOutput(messages, output, guidance);
        expect(wireSize(messages) - wireSize(base)).toBeLessThanOrEqual(44_000);
        expect(checkTranscript(joinNeighbours(messages))).toEqual([]);
      }),
      { numRuns: 100, seed: 7 },
    );
  });
});
