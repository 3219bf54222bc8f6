/**
 * What goes wrong with models, through whole runs in virtual time: every run ends with a typed outcome, and its ledger has
 * what the model counted. That the same faults look the same over a socket is faults.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../../src/define/define-agent.ts';
import { defineTool } from '../../../src/define/define-tool.ts';
import { scriptedModel, type ScriptedTurn } from '../../../src/testing.ts';
import { liveThinking } from '../../support/thinking.ts';

const TIMES = 20;
/** Time is real only inside of a turn: what a model that hangs costs the test, and long enough for a busy machine. */
const HANG_MS = 400;

const look = defineTool({
  name: 'look',
  effect: 'read',
  input: z.object({ at: z.string() }),
  output: z.object({ seen: z.string() }),
  run: ({ at }) => ({ seen: `${at} is there` }),
});

interface Row {
  fault: (time: number) => ScriptedTurn;
  /** Nobody can tell what the call used: its reservation stays. */
  unknown?: (time: number) => boolean;
}

const gateway = (time: number): number => [500, 502, 503, 504][time % 4] ?? 500;

const ROWS: Record<string, Row> = {
  rate_limit: { fault: (time) => ({ fault: 'rate_limit', retryAfterSeconds: time * 60 }) },
  server_error: {
    fault: (time) => ({ fault: 'server_error', status: gateway(time) }),
    unknown: (time) => [502, 504].includes(gateway(time)),
  },
  cut_stream: { fault: (time) => ({ fault: 'cut_stream', text: 'x'.repeat(1 + 500 * time) }), unknown: () => true },
  hang: { fault: () => ({ fault: 'hang' }), unknown: () => true },
  bad_json: { fault: () => ({ fault: 'bad_json' }), unknown: () => true },
  refusal: { fault: (time) => ({ fault: 'refusal', filter: time % 4 < 2 }) },
  wrong_arguments: { fault: () => ({ fault: 'wrong_arguments', tool: 'look' }) },
  invented_tool: { fault: (time) => ({ fault: 'invented_tool', tool: `no_such_tool_${time}` }) },
  repeated_call: { fault: (time) => ({ fault: 'repeated_call', sameId: time % 4 < 2 }) },
  empty: { fault: () => ({ fault: 'empty' }) },
  context_length: { fault: () => ({ fault: 'context_length' }) },
  length: { fault: (time) => ({ fault: 'length', text: 'x'.repeat(1 + 500 * time) }) },
};

const OUTCOMES = ['completed', 'finalized', 'system_error', 'budget_exhausted', 'cancelled'];

/** Even times it goes wrong once, after a call that went well; odd times it goes wrong from there on for ever. */
async function liveWith({ fault }: Row, time: number) {
  const hangs = fault(time).fault === 'hang';
  const model = scriptedModel(({ index }) => {
    if (index === 0) return { calls: [{ tool: 'look', input: { at: `shelf ${time}` } }] };
    if (index === 1 || time % 2 === 1) return fault(time);
    return { text: 'All is there.' };
  });
  const agent = defineAgent({ name: 'looker', instructions: 'Look.', model, tools: [look], maxOutputTokens: 500 });
  const policy = { budget: { max_model_calls: 40 } };
  const { result } = await liveThinking([agent], { policy, goal: `look ${time}` }, hangs ? { turnMs: HANG_MS } : {});
  if (result === null) throw new Error('the run has no result');
  return { result, model };
}

describe('a run whose model goes wrong', () => {
  it('has twelve ways to meet it', () => expect(Object.keys(ROWS)).toHaveLength(12));

  it.each(Object.entries(ROWS))(
    `ends with a typed outcome, and its ledger has what the model counted: %s, ${TIMES} times`,
    { timeout: 60_000 },
    async (_name, row) => {
      for (let time = 0; time < TIMES; time += 1) {
        const { result, model } = await liveWith(row, time);
        const { requests, rejected, inputTokens, outputTokens } = model.counts();
        expect(OUTCOMES).toContain(result.outcome);
        expect(result.reason).not.toBe('');
        expect(rejected).toBe(0);
        expect(result.used.model_calls).toBe(requests);
        const counted = inputTokens + outputTokens;
        const over = result.used.tokens - counted;
        expect(over > 0 ? 'more' : over === 0 ? 'the same' : 'less').toBe(row.unknown?.(time) ? 'more' : 'the same');
        expect(result.used.tokens).toBeLessThanOrEqual(result.bound.tokens);
      }
    },
  );

  it('is mended when that happens once, and never taken for done when it goes on', { timeout: 60_000 }, async () => {
    const ends: Record<string, string[]> = {};
    for (const [name, row] of Object.entries(ROWS)) {
      const [once, always] = [await liveWith(row, 0), await liveWith(row, 1)];
      ends[name] = [once.result.outcome, always.result.outcome];
    }
    // A refusal is not asked again: it goes to a person, and here nobody answers.
    expect(ends).toEqual({
      rate_limit: ['completed', 'finalized'],
      server_error: ['completed', 'finalized'],
      cut_stream: ['completed', 'finalized'],
      hang: ['completed', 'finalized'],
      bad_json: ['completed', 'system_error'],
      refusal: ['finalized', 'finalized'],
      wrong_arguments: ['completed', 'finalized'],
      invented_tool: ['completed', 'system_error'],
      repeated_call: ['completed', 'finalized'],
      empty: ['completed', 'system_error'],
      context_length: ['completed', 'finalized'],
      length: ['completed', 'system_error'],
    });
  });
});
