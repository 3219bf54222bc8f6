/** Random conversations with a model: rounds of calls that succeed or fail, answers, and people's messages. */
import * as fc from 'fast-check';
import type { Message } from '../../src/core/transcript/message.ts';

type Segment =
  | { kind: 'round'; text: string; outcomes: boolean[] }
  | { kind: 'answered'; text: string; reply: string; guidance: boolean }
  | { kind: 'user' | 'guidance'; text: string }
  | { kind: 'lost'; outcomes: (boolean | null)[] };

const words = fc.string({ minLength: 1, maxLength: 40 }).map((text) => (text.trim() === '' ? 'words' : text));

const round = fc.record({
  kind: fc.constant('round' as const),
  text: fc.oneof(fc.constant(''), words),
  // Two of three fail, so that most conversations end with something to remove.
  outcomes: fc.array(
    fc.nat(2).map((drawn) => drawn === 0),
    { minLength: 1, maxLength: 4 },
  ),
});

const segment: fc.Arbitrary<Segment> = fc.oneof(
  { weight: 6, arbitrary: round },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('answered' as const),
      text: words,
      reply: words,
      guidance: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('user' as const, 'guidance' as const), text: words }) },
);

/** The last round may lack some results, because the worker that made the calls was lost. */
const lost: fc.Arbitrary<Segment> = fc.record({
  kind: fc.constant('lost' as const),
  outcomes: fc.array(fc.constantFrom(true, false, null), { minLength: 1, maxLength: 4 }),
});

export const conversation: fc.Arbitrary<Message[]> = fc
  .record({
    system: fc.option(words),
    goal: words,
    segments: fc.array(segment, { maxLength: 10 }),
    tail: fc.option(lost, { freq: 3 }),
  })
  .map(({ system, goal, segments, tail }) => {
    let messages: Message[] = [
      ...(system === null ? [] : [{ role: 'system' as const, text: system }]),
      { role: 'user', text: goal },
    ];
    for (const [index, part] of [...segments, ...(tail === null ? [] : [tail])].entries()) {
      messages = append(messages, part, `s${index}`);
    }
    return messages;
  });

function append(messages: Message[], part: Segment, id: string): Message[] {
  switch (part.kind) {
    case 'round':
      return withRound(messages, id, part.outcomes, part.text);
    case 'lost':
      return withRound(messages, id, part.outcomes);
    case 'answered': {
      const reply = part.guidance
        ? { role: 'user' as const, text: part.reply, guidance: true as const }
        : { role: 'user' as const, text: part.reply };
      return [...messages, { role: 'assistant', text: part.text, calls: [] }, reply];
    }
    case 'guidance':
      return [...messages, { role: 'user', text: part.text, guidance: true }];
    case 'user':
      return [...messages, { role: 'user', text: part.text }];
  }
}

/** Adds a round of parallel calls: true succeeded, false failed, null never got a result. */
export function withRound(messages: Message[], id: string, outcomes: (boolean | null)[], text = ''): Message[] {
  const ids = outcomes.map((_outcome, index) => `${id}_${index}`);
  return [
    ...messages,
    {
      role: 'assistant',
      text,
      calls: ids.map((call_id, index) => ({ call_id, tool: 'read', input: { index } })),
    },
    ...ids.flatMap((call_id, index): Message[] => {
      const outcome = outcomes[index];
      if (outcome === null || outcome === undefined) return [];
      const result = { role: 'tool' as const, call_id, tool: 'read', output: { said: id } };
      return [outcome ? result : { ...result, failed: true }];
    }),
  ];
}
