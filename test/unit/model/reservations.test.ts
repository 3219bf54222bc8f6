/** What a turn reserves covers what any provider can count for it; whole runs in virtual time, with a scripted model. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type Message, messageId } from '../../../src/core/transcript/message.ts';
import { defineAgent, type AgentDefinition } from '../../../src/define/define-agent.ts';
import { defineTool } from '../../../src/define/define-tool.ts';
import { hashHead, mostInputTokens } from '../../../src/model/input-tokens.ts';
import { scriptedModel, type Script } from '../../../src/testing.ts';
import { conversation } from '../../support/conversations.ts';
import { liveThinking } from '../../support/thinking.ts';

const bytes = (text: string): number => Buffer.byteLength(text);
/** The densest tokenizer there can be: every byte of every text is a token. */
const densest = (messages: readonly Message[]): number =>
  messages.reduce((sum, message) => {
    if (message.role === 'tool') return sum + bytes(JSON.stringify(message.output));
    const calls = message.role === 'assistant' ? JSON.stringify(message.calls.map(({ input }) => input)) : '';
    return sum + bytes(message.text) + bytes(calls);
  }, 0);

const look = defineTool({
  name: 'look',
  effect: 'read',
  input: z.object({ at: z.number() }),
  output: z.string(),
  run: ({ at }) => `${at}`.repeat(500),
});

async function live(script: Script, max_tokens: number, more: Partial<AgentDefinition> = {}) {
  const model = scriptedModel(script);
  const agent = defineAgent({ name: 'x', instructions: 'do', model, tools: [], ...more });
  const policy = { budget: { max_tokens } };
  return { ...(await liveThinking([agent], { policy })), model };
}

describe('a turn that could be counted as more than is left', () => {
  const dense = Array.from({ length: 4_000 }, (_, at) => String.fromCharCode(33 + ((at * 7_919) % 90))).join('');
  const wide = z.object(
    Object.fromEntries(Array.from({ length: 400 }, (_, at) => [`field_number_${at}`, z.string().describe('a field')])),
  );

  it.each<[string, number, Partial<AgentDefinition>]>([
    ['dense instructions', 2_000, { instructions: dense }],
    ['a wide output', 3_000, { output: wide }],
    [
      'a wide tool',
      3_000,
      { tools: [defineTool({ name: 'wide', effect: 'read', input: wide, output: z.string(), run: () => '' })] },
    ],
  ])('a turn that may exceed the budget is not sent: %s', async (_what, max_tokens, more) => {
    const { result, model } = await live([{ text: 'ok' }], max_tokens, more);
    expect(model.counts().requests).toBe(0);
    expect(result).toMatchObject({ outcome: 'budget_exhausted', reason: 'tokens', used: { tokens: 0 } });
  });
});

describe('what a run reserves', () => {
  it('a reservation is never exceeded by a model that counts every byte, and is close to its own count later', async () => {
    const { result, model, logs } = await live(
      ({ messages, index, tools }) => ({
        calls: [{ tool: 'look', input: { at: 1_000 + index } }],
        usage: { inputTokens: densest(messages) + bytes(JSON.stringify(tools)), outputTokens: 20 },
      }),
      60_000,
      { tools: [look], maxOutputTokens: 100 },
    );
    expect(logs.filter(({ event }) => event === 'budget_overrun')).toEqual([]);
    expect(result).toMatchObject({ outcome: 'budget_exhausted', reason: 'tokens' });
    const { inputTokens, outputTokens } = model.counts();
    expect(result?.used.tokens).toBe(inputTokens + outputTokens);
    // The turn that was not sent would have taken about as much as the last one and its 2 KB of news.
    expect(60_000 - (result?.used.tokens ?? 0)).toBeLessThan(16_000);
  });

  it('a reservation is the earlier count of the model and one token for every new byte', () => {
    const head = { instructions: 'Be brief.', tools: [] };
    fc.assert(
      fc.property(conversation, fc.nat(20), fc.boolean(), (said, cut, twice) => {
        const before = said.slice(0, cut);
        const messages = twice ? [...said, ...said] : said;
        const question = { ...head, messages };
        const counted = {
          tokens: densest(before) + bytes(head.instructions),
          head: hashHead(question, 'm'),
          messages: before.map(messageId),
        };
        const real = densest(messages) + bytes(head.instructions);
        expect(mostInputTokens(question, 'm', counted)).toBeGreaterThanOrEqual(real);
        expect(mostInputTokens(question, 'm', null)).toBeGreaterThanOrEqual(mostInputTokens(question, 'm', counted));
        expect(mostInputTokens(question, 'another', counted)).toBe(mostInputTokens(question, 'm', null));
      }),
      { numRuns: 500, seed: 5 },
    );
  });

  it('if a model reports more tokens than were reserved, the run ends within its limit', async () => {
    const { result, logs } = await live([{ text: 'hi', usage: { inputTokens: 90_000, outputTokens: 20 } }], 5_000);
    expect(result).toMatchObject({ outcome: 'budget_exhausted', reason: 'tokens', used: { tokens: 5_000 } });
    expect(logs).toContainEqual(expect.objectContaining({ event: 'budget_overrun', reported: 90_020 }));
  });
});
