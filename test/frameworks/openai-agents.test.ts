/** The guard in the real OpenAI Agents SDK: a model that calls the same failing tool up to 40 times. Needs test/frameworks installed. */
import {
  Agent,
  type Model,
  type ModelResponse,
  Runner,
  setTracingDisabled,
  tool,
  ToolCallError,
  Usage,
} from '@openai/agents';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createGuard, type Guard, guardOpenAiAgents, GuardStopError } from '../../src/guard.ts';
import { DOOM_CALLS, DOOM_REPORT } from '../unit/guard/doom-loop.ts';

setTracingDisabled(true);

/** Calls the tool until it has called it 40 times, and keeps what it was sent. */
class DoomedModel implements Model {
  readonly requests: unknown[] = [];
  getResponse(request: { input: unknown }): Promise<ModelResponse> {
    this.requests.push(structuredClone(request.input));
    const n = this.requests.length;
    const isOver = n > DOOM_CALLS;
    const said = {
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'I give up.' }],
    };
    const call = {
      type: 'function_call',
      callId: `call-${n}`,
      name: 'read_file',
      status: 'completed',
      arguments: JSON.stringify({ path: 'a.txt' }),
    };
    return Promise.resolve({ usage: new Usage(), output: [isOver ? said : call] } as unknown as ModelResponse);
  }
  getStreamedResponse(): never {
    throw new Error('not used');
  }
}

const drive = async (guard: Guard) => {
  let ran = 0;
  const readFile = tool({
    name: 'read_file',
    description: 'Reads a file',
    parameters: z.object({ path: z.string() }),
    errorFunction: (_context, error) => String(error),
    execute: ({ path }) => {
      ran += 1;
      throw new Error(`${path}: permission denied`);
    },
  });
  const model = new DoomedModel();
  const agent = new Agent({
    name: 'coder',
    instructions: 'Read files.',
    model,
    tools: guardOpenAiAgents(guard, [readFile]),
  });
  const end: unknown = await new Runner().run(agent, 'Read a.txt', { maxTurns: 100 }).catch((error: unknown) => error);
  return { ran, model, end };
};

describe('the OpenAI Agents SDK', () => {
  it('a doom loop of 40 is stopped in enforce at the call that inspect names', async () => {
    const { ran, end } = await drive(createGuard({ agent: 'coder' }));
    expect(ran).toBe(3);
    expect(end).toBeInstanceOf(ToolCallError);
    expect((end as ToolCallError).error).toBeInstanceOf(GuardStopError);
    expect((end as ToolCallError).error).toMatchObject({ verdict: 'stop', loop: { would_stop_at: 3 } });
  });

  it('the loop runs to 40 in observe, with the same report as everywhere', async () => {
    const guard = createGuard({ agent: 'coder', mode: 'observe' });
    const { ran, end } = await drive(guard);
    expect(ran).toBe(DOOM_CALLS);
    expect(end).toMatchObject({ finalOutput: 'I give up.' });
    const { calls, loops, failures } = guard.report();
    expect({ calls, loops }).toEqual({ calls: DOOM_REPORT.calls, loops: DOOM_REPORT.loops });
    // The SDK answers with a text, so only the text says that the call failed.
    expect(failures).toMatchObject([{ count: DOOM_CALLS, certainty: 'unknown', tool: 'read_file' }]);
  });

  it('in guide the model reads the guidance at the end of the failed call, in its next request', async () => {
    const { ran, model } = await drive(createGuard({ agent: 'coder', mode: 'guide' }));
    expect(ran).toBe(DOOM_CALLS);
    expect(JSON.stringify(model.requests[2])).not.toContain('[secondwind]');
    expect(JSON.stringify(model.requests[3])).toMatch(/permission denied\\n\\n\[secondwind\] /);
  });
});
