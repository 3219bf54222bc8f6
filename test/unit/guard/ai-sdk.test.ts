/** The guard in the real AI SDK with its own mock model: a model that calls the same failing tool up to 40 times. */
import { generateText, stepCountIs, streamText, tool } from 'ai';
import { MockLanguageModelV3, simulateReadableStream } from 'ai/test';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createGuard, type Guard, guardAiSdk } from '../../../src/guard.ts';
import { DOOM_CALLS, DOOM_REPORT } from './doom-loop.ts';

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const callAt = (n: number) => ({
  type: 'tool-call' as const,
  toolCallId: `call-${n}`,
  toolName: 'read_file',
  input: JSON.stringify({ path: 'a.txt' }),
});
const STOP = { unified: 'stop', raw: 'stop' } as const;
const CALLS = { unified: 'tool-calls', raw: 'tool_calls' } as const;

const doomedModel = () => {
  let turn = 0;
  const next = () => {
    turn += 1;
    return turn > DOOM_CALLS;
  };
  return new MockLanguageModelV3({
    doGenerate: () =>
      Promise.resolve(
        next()
          ? { content: [{ type: 'text', text: 'I give up.' }], finishReason: STOP, usage, warnings: [] }
          : { content: [callAt(turn)], finishReason: CALLS, usage, warnings: [] },
      ),
    doStream: () => {
      const isOver = next();
      return Promise.resolve({
        stream: simulateReadableStream({
          chunks: [
            { type: 'stream-start' as const, warnings: [] },
            ...(isOver ? [] : [callAt(turn)]),
            { type: 'finish' as const, finishReason: isOver ? STOP : CALLS, usage },
          ],
        }),
      });
    },
  });
};

const doomedTools = (ran: { times: number }) => ({
  read_file: tool({
    inputSchema: z.object({ path: z.string() }),
    execute: ({ path }): string => {
      ran.times += 1;
      throw new Error(`${path}: permission denied`);
    },
  }),
});

const drive = async (guard: Guard) => {
  const ran = { times: 0 };
  const model = doomedModel();
  const options = guardAiSdk(guard, { tools: doomedTools(ran), stopWhen: stepCountIs(100) });
  const { steps } = await generateText({ model, prompt: 'Read a.txt', ...options });
  return { ran: ran.times, steps, model };
};

describe('the AI SDK', () => {
  it('a doom loop of 40 is stopped in enforce at the call that inspect names', async () => {
    const guard = createGuard({ agent: 'coder' });
    const { ran, steps } = await drive(guard);
    expect([ran, steps.length]).toEqual([3, 3]);
    expect(guard.stopped).toMatchObject({ rule: 'same_call_failing', would_stop_at: 3 });
    const last = steps.at(-1)?.content.find((part) => part.type === 'tool-error');
    expect(String(last?.error)).toMatch(/^Error: a\.txt: permission denied\n\n\[secondwind\] The agent is stuck/);
  });

  it('the loop runs to 40 in observe, with the same report as everywhere', async () => {
    const guard = createGuard({ agent: 'coder', mode: 'observe' });
    const { ran, steps } = await drive(guard);
    expect([ran, steps.length]).toEqual([DOOM_CALLS, DOOM_CALLS + 1]);
    expect(guard.report()).toEqual(DOOM_REPORT);
  });

  it('in guide the model reads the guidance at the end of the failed call, in its next request', async () => {
    const guard = createGuard({ agent: 'coder', mode: 'guide' });
    const { ran, model } = await drive(guard);
    expect(ran).toBe(DOOM_CALLS);
    const results = model.doGenerateCalls[3]?.prompt.filter(({ role }) => role === 'tool') ?? [];
    expect(results.map((message) => /permission denied\\n\\n\[secondwind\] /.test(JSON.stringify(message)))).toEqual([
      false,
      false,
      true,
    ]);
  });

  it('streams are stopped too, and a result of any kind carries guidance', async () => {
    const guard = createGuard({ agent: 'coder' });
    const ran = { times: 0 };
    const options = guardAiSdk(guard, { tools: doomedTools(ran), stopWhen: [stepCountIs(100)] });
    const result = streamText({ model: doomedModel(), prompt: 'Read a.txt', ...options });
    await result.consumeStream();
    expect([ran.times, (await result.steps).length]).toEqual([3, 3]);

    const listing = createGuard({ agent: 'coder', mode: 'guide' });
    const { tools } = guardAiSdk(listing, {
      tools: { list: tool({ inputSchema: z.object({}), execute: () => [1, 2] }) },
      effects: { list: 'read' },
    });
    const outputs: unknown[] = [];
    for (let n = 0; n < 3; n += 1) outputs.push(await tools.list.execute?.({}, { toolCallId: `${n}`, messages: [] }));
    expect(outputs).toEqual([
      [1, 2],
      [1, 2],
      { result: [1, 2], guidance: expect.stringContaining('[secondwind]') as string },
    ]);
  });
});
