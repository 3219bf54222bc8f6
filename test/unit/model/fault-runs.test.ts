/**
 * What goes wrong with models, through whole runs in virtual time: every run ends as it must, and its ledger has
 * what the model counted. That the same faults look the same over a socket is faults.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../../src/define/define-agent.ts';
import { defineTool } from '../../../src/define/define-tool.ts';
import { scriptedModel, type ScriptedTurn } from '../../../src/testing.ts';
import { DEFAULT_POLICY } from '../../../src/protocol/policy.ts';
import type { RunOutcome } from '../../../src/protocol/run.ts';
import { liveThinking } from '../../support/thinking.ts';

const TIMES = 20;
/** Runs beside each other, since each waits for its model that hangs; few, so that none of them is late itself. */
const AT_ONCE = 5;
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
  /** How the run ends when it goes wrong once, and when it goes on: mended, or never taken for done. */
  ends: [once: RunOutcome, always: RunOutcome];
  fault: (time: number) => ScriptedTurn;
  /** Not even once is mended then. */
  tooLong?: (time: number) => boolean;
  /** Nobody can tell what the call used: its reservation stays. */
  unknown?: (time: number) => boolean;
}

const gateway = (time: number): number => [500, 502, 503, 504][time % 4] ?? 500;

const ROWS: Record<string, Row> = {
  rate_limit: {
    ends: ['completed', 'finalized'],
    fault: (time) => ({ fault: 'rate_limit', retryAfterSeconds: time * 60 }),
    // Nobody waits longer than retry.max_wait_ms: then a person is asked, and here nobody answers.
    tooLong: (time) => time * 60_000 > DEFAULT_POLICY.retry.max_wait_ms,
  },
  server_error: {
    ends: ['completed', 'finalized'],
    fault: (time) => ({ fault: 'server_error', status: gateway(time) }),
    unknown: (time) => [502, 504].includes(gateway(time)),
  },
  cut_stream: {
    ends: ['completed', 'finalized'],
    fault: (time) => ({ fault: 'cut_stream', text: 'x'.repeat(1 + 500 * time) }),
    unknown: () => true,
  },
  hang: { ends: ['completed', 'finalized'], fault: () => ({ fault: 'hang' }), unknown: () => true },
  bad_json: { ends: ['completed', 'system_error'], fault: () => ({ fault: 'bad_json' }), unknown: () => true },
  // Not asked again: it goes to a person, and here nobody answers.
  refusal: { ends: ['finalized', 'finalized'], fault: (time) => ({ fault: 'refusal', filter: time % 4 < 2 }) },
  wrong_arguments: { ends: ['completed', 'finalized'], fault: () => ({ fault: 'wrong_arguments', tool: 'look' }) },
  invented_tool: {
    ends: ['completed', 'system_error'],
    fault: (time) => ({ fault: 'invented_tool', tool: `no_such_tool_${time}` }),
  },
  repeated_call: {
    ends: ['completed', 'finalized'],
    fault: (time) => ({ fault: 'repeated_call', sameId: time % 4 < 2 }),
  },
  empty: { ends: ['completed', 'system_error'], fault: () => ({ fault: 'empty' }) },
  context_length: { ends: ['completed', 'finalized'], fault: () => ({ fault: 'context_length' }) },
  length: {
    ends: ['completed', 'system_error'],
    fault: (time) => ({ fault: 'length', text: 'x'.repeat(1 + 500 * time) }),
  },
};

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
  it('there are twelve kinds of model faults', () => expect(Object.keys(ROWS)).toHaveLength(12));

  it.each(Object.entries(ROWS))(
    `a run with a model fault ends as expected, and counts what the model counted: %s, ${TIMES} times`,
    { timeout: 60_000 },
    async (_name, row) => {
      const liveOne = async (time: number): Promise<void> => {
        const { result, model } = await liveWith(row, time);
        const { requests, rejected, inputTokens, outputTokens } = model.counts();
        const goesOn = time % 2 === 1 || row.tooLong?.(time) === true;
        expect({ time, outcome: result.outcome }).toEqual({ time, outcome: row.ends[goesOn ? 1 : 0] });
        expect(result.reason).not.toBe('');
        expect(rejected).toBe(0);
        expect(result.used.model_calls).toBe(requests);
        const counted = inputTokens + outputTokens;
        const over = result.used.tokens - counted;
        expect(over > 0 ? 'more' : over === 0 ? 'the same' : 'less').toBe(row.unknown?.(time) ? 'more' : 'the same');
        expect(result.used.tokens).toBeLessThanOrEqual(result.bound.tokens);
      };
      for (let first = 0; first < TIMES; first += AT_ONCE) {
        await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => liveOne(first + index)));
      }
    },
  );
});
