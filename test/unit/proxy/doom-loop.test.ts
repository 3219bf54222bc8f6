/** An agent of the AI SDK that makes the same failing call 40 times, through the proxy. Needs nothing. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import { afterEach, describe, expect, it } from 'vitest';
import { createProxy } from '../../../src/cli/proxy/create-proxy.ts';
import { listen } from '../../../src/cli/proxy/serve-proxy.ts';
import { settingsOf } from '../../../src/core/guard/guard-state.ts';
import { mergePolicy } from '../../../src/core/policy/merge-policy.ts';
import { serveScriptedModel } from '../../../src/testing.ts';

const ROUNDS = 40;
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** The agent, in front of a model that asks for the same call 40 times and then gives up. */
async function startAgent(mode: 'observe' | 'guide' | 'enforce') {
  const turn = { calls: [{ tool: 'build', input: { target: 'all' } }] };
  const model = await serveScriptedModel([...Array.from({ length: ROUNDS }, () => turn), { text: 'I give up.' }]);
  closing.push(() => model.close());
  const proxy = createProxy({
    upstream: new URL(model.url),
    guard: settingsOf(mergePolicy({ mode })),
    say: () => undefined,
  });
  closing.push(() => proxy.close());
  const url = await listen(proxy.server, 0, '127.0.0.1');
  let calls = 0;
  const build = tool({
    inputSchema: jsonSchema<{ target: string }>({ type: 'object', properties: { target: { type: 'string' } } }),
    execute: () => {
      calls += 1;
      return 'Error: no rule to make target all';
    },
  });
  const base = new URL(model.url).pathname;
  return {
    request: {
      model: createOpenAICompatible({ name: 'm', baseURL: `${url}${base}`, apiKey: 'any' })('scripted'),
      prompt: 'Build it.',
      tools: { build },
      stopWhen: stepCountIs(ROUNDS + 5),
    },
    calls: () => calls,
    loops: async () => {
      const answer = await fetch(`${url}/secondwind/report`);
      return ((await answer.json()) as { conversations: [{ loops: unknown[] }] }).conversations[0].loops;
    },
  };
}

const LOOP = { rule: 'same_call_failing', level: 'stuck', tool: 'build', start: 1, would_stop_at: 3 };

describe('a doom loop of 40 calls', () => {
  it('is stopped in enforce mode, and the agent ends with a message that says why', async () => {
    const agent = await startAgent('enforce');
    const { text, finishReason } = await generateText(agent.request);
    expect({ calls: agent.calls(), finishReason }).toEqual({ calls: 3, finishReason: 'stop' });
    expect(text).toMatch(
      /^Stopped by Secondwind: the agent is stuck \(calls 1 to 3\)\. The same call failed 3 times\./,
    );
    expect(await agent.loops()).toMatchObject([LOOP]);
  });

  it('is stopped in enforce mode for an agent that streams', async () => {
    const agent = await startAgent('enforce');
    const stream = streamText(agent.request);
    expect(await stream.text).toMatch(/^Stopped by Secondwind/);
    expect(agent.calls()).toBe(3);
  });

  it.each(['observe', 'guide'] as const)('runs to 40 in %s mode, with the same report', async (mode) => {
    const agent = await startAgent(mode);
    expect((await generateText(agent.request)).text).toBe('I give up.');
    expect(agent.calls()).toBe(ROUNDS);
    expect(await agent.loops()).toMatchObject([LOOP]);
  });
});
