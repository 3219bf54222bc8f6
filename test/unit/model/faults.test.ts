/** 12 faults of models, 20 times each, over a real socket: every one ends in a typed outcome. Needs nothing. */
import { describe, expect, it } from 'vitest';
import type { Message } from '../../../src/core/transcript/message.ts';
import type { ModelRequest } from '../../../src/model/request.ts';
import type { ModelSource } from '../../../src/define/model-source.ts';
import { askModel } from '../../../src/model/ask-model.ts';
import type { ModelOutcome, ModelUsage } from '../../../src/protocol/model.ts';
import { type Script, type ScriptedTurn, scriptedModel, serveScriptedModel } from '../../../src/testing.ts';

const TIMES = 20;

const past: Message[] = [
  { role: 'user', text: 'read the file' },
  {
    role: 'assistant',
    text: '',
    calls: [{ call_id: 'call_1', tool: 'fs.read', input: { path: 'a.txt' } }],
  },
  { role: 'tool', call_id: 'call_1', tool: 'fs.read', output: { lines: ['x'] } },
];

const request: ModelRequest = {
  instructions: 'You read files.',
  messages: past,
  tools: [
    {
      name: 'fs.read',
      description: 'Reads a file',
      input_schema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    },
  ],
  max_output_tokens: 500,
  timeout_ms: 10_000,
};

interface Row {
  name: string;
  turn: (time: number) => ScriptedTurn;
  expected: (time: number) => object;
  request?: Partial<ModelRequest>;
}

const statusOf = (time: number): number => [500, 502, 503, 504, 529][time % 5] ?? 500;
const usage = (time: number) => ({ inputTokens: 100 + time, outputTokens: 10 + time });
const used = (time: number): ModelUsage => ({ input_tokens: 100 + time, output_tokens: 10 + time });
const nothing: ModelUsage = { input_tokens: 0, output_tokens: 0 };

const ROWS: Row[] = [
  {
    name: 'rate_limit',
    turn: (time) => ({ fault: 'rate_limit', retryAfterSeconds: time }),
    expected: (time) => ({
      class: 'failed',
      category: 'rate_limit',
      certainty: 'failed',
      retry_after_ms: time * 1_000,
      usage: nothing,
    }),
  },
  {
    name: 'server_error',
    turn: (time) => ({ fault: 'server_error', status: statusOf(time) }),
    expected: (time) => {
      // A gateway that got no answer cannot tell whether the model worked.
      const unknown = [502, 504].includes(statusOf(time));
      const certainty = unknown ? 'unknown' : 'failed';
      return { class: 'failed', category: 'server_error', certainty, usage: unknown ? null : nothing };
    },
  },
  {
    name: 'cut_stream',
    turn: (time) => ({ fault: 'cut_stream', text: 'x'.repeat(1 + time * 1_000) }),
    expected: () => ({ class: 'failed', category: 'network', certainty: 'unknown', usage: null }),
  },
  {
    name: 'hang',
    turn: () => ({ fault: 'hang' }),
    expected: () => ({ class: 'failed', category: 'timeout', certainty: 'unknown', usage: null }),
    // Long enough for the request to reach the server on a busy machine: it must be counted there.
    request: { timeout_ms: 1_000 },
  },
  {
    name: 'bad_json',
    turn: (time) =>
      time % 2 === 0 ? { fault: 'bad_json' } : { fault: 'bad_json', body: ['', '[]', '<html>', '{}'][time % 4] ?? '' },
    expected: () => ({
      class: 'failed',
      category: 'contract_violation',
      error_code: 'BAD_JSON',
      certainty: 'unknown',
      usage: null,
    }),
  },
  {
    name: 'refusal',
    turn: (time) => ({ fault: 'refusal', filter: time % 2 === 0, usage: usage(time) }),
    expected: (time) => ({
      class: 'failed',
      category: 'content_filter',
      error_code: time % 2 === 0 ? 'CONTENT_FILTER' : 'REFUSED',
      certainty: 'failed',
      usage: used(time),
    }),
  },
  {
    name: 'wrong_arguments',
    turn: (time) => {
      const broken = ['{', '[]', '"a.txt"', '{"path": 7}'][time % 4] ?? '{';
      const fault = { fault: 'wrong_arguments', usage: usage(time) } as const;
      return time % 5 === 0 ? fault : { ...fault, arguments: broken };
    },
    expected: (time) => ({
      class: 'ok',
      finish: 'tool_calls',
      calls: [
        {
          tool: 'fs.read',
          problem: { error_code: time % 5 === 0 || time % 4 === 3 ? 'INVALID_ARGUMENTS' : 'UNREADABLE_ARGUMENTS' },
        },
      ],
      usage: used(time),
    }),
  },
  {
    name: 'invented_tool',
    turn: (time) => ({ fault: 'invented_tool', tool: `no such tool ${time}`, usage: usage(time) }),
    expected: (time) => ({
      class: 'ok',
      calls: [{ tool: `no such tool ${time}`, problem: { error_code: 'UNKNOWN_TOOL' } }],
      usage: used(time),
    }),
  },
  {
    name: 'repeated_call',
    turn: (time) => ({ fault: 'repeated_call', sameId: time % 2 === 0, usage: usage(time) }),
    expected: (time) => ({
      class: 'ok',
      calls: [{ call_id: expect.not.stringMatching(/^call_1$/) as string, tool: 'fs.read', input: { path: 'a.txt' } }],
      usage: used(time),
    }),
  },
  {
    name: 'empty',
    turn: (time) => (time % 2 === 0 ? { fault: 'empty', usage: usage(time) } : { text: ' \n', usage: usage(time) }),
    expected: (time) => ({
      class: 'failed',
      category: 'contract_violation',
      error_code: 'EMPTY_ANSWER',
      certainty: 'failed',
      usage: used(time),
    }),
  },
  {
    name: 'context_length',
    turn: () => ({ fault: 'context_length' }),
    expected: () => ({ class: 'failed', category: 'context_length', certainty: 'failed', usage: nothing }),
  },
  {
    name: 'length',
    turn: (time) =>
      time % 2 === 0
        ? { fault: 'length', usage: usage(time) }
        : { calls: [{ tool: 'fs_read', arguments: '{"pa' }], finish: 'length', usage: usage(time) },
    expected: (time) => ({
      class: 'failed',
      category: 'contract_violation',
      error_code: 'OUTPUT_CUT',
      certainty: 'failed',
      usage: used(time),
    }),
  },
];

const tokensOf = (outcomes: ModelOutcome[], kind: 'input_tokens' | 'output_tokens'): number =>
  outcomes.reduce((sum, outcome) => sum + (outcome.class === 'cancelled' ? 0 : (outcome.usage?.[kind] ?? 0)), 0);

/** Every row so many times, side by side; the question itself says which row and time it is. */
async function outcomesOf(model: ModelSource, times: number, isStreamed: boolean) {
  const streamed = isStreamed ? { onDelta: () => undefined } : {};
  const outcomes: { row: Row; time: number; outcome: ModelOutcome }[] = [];
  for (const row of ROWS) {
    const all = Array.from({ length: times }, async (_, time) => {
      const messages: Message[] = [{ role: 'user', text: `${row.name} ${time}` }, ...past];
      return { row, time, outcome: await askModel({ ...request, messages, ...row.request }, { model, ...streamed }) };
    });
    outcomes.push(...(await Promise.all(all)));
  }
  return outcomes;
}

const script: Script = ({ messages }) => {
  const question = messages.find((message) => message.role === 'user');
  const [name, time] = (question?.text.split('\n')[0] ?? '').split(' ');
  const row = ROWS.find((one) => one.name === name);
  if (row === undefined) throw new Error(`no row named ${name}`);
  return row.turn(Number(time));
};

describe.each([
  { how: 'asked at once', isStreamed: false },
  { how: 'streamed', isStreamed: true },
])('the faults of models, $how', ({ isStreamed }) => {
  it(
    'all 240 model faults end in a typed outcome, with calls and tokens as the server counted them',
    { timeout: 120_000 },
    async () => {
      expect(ROWS).toHaveLength(12);
      const server = await serveScriptedModel(script);
      const model = { base_url: server.url, api_key: 'sk-not-a-real-key-000000', model: 'scripted' };
      const asked = await outcomesOf(model, TIMES, isStreamed);
      await server.close();

      expect(asked).toHaveLength(240);
      for (const { row, time, outcome } of asked)
        expect(outcome, `${row.name} ${time}`).toMatchObject(row.expected(time));
      const outcomes = asked.map(({ outcome }) => outcome);
      const sent = outcomes.filter((outcome) => outcome.class !== 'failed' || outcome.certainty !== 'not_started');
      expect(sent).toHaveLength(server.counts().requests);
      expect(server.counts()).toEqual({
        requests: 240,
        rejected: 0,
        inputTokens: tokensOf(outcomes, 'input_tokens'),
        outputTokens: tokensOf(outcomes, 'output_tokens'),
      });
    },
  );

  it('model faults have the same outcomes for a model object in this process', { timeout: 60_000 }, async () => {
    const model = scriptedModel(script);
    const asked = await outcomesOf(model, 4, isStreamed);
    for (const { row, time, outcome } of asked)
      expect(outcome, `${row.name} ${time}`).toMatchObject(row.expected(time));
    expect(model.counts()).toMatchObject({ requests: 48, rejected: 0 });
  });
});
