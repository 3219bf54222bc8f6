/** What a model learns of a command that it ran, in virtual time with real processes and a scripted model. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { commandTool } from '../../../src/define/command/command-tool.ts';
import { defineAgent } from '../../../src/define/define-agent.ts';
import { scriptedModel } from '../../../src/testing.ts';
import { liveThinking } from '../../support/thinking.ts';

const runTests = commandTool({
  name: 'run_tests',
  effect: 'read',
  input: z.object({ file: z.string() }),
  argv: ({ file }) => [
    'sh',
    '-c',
    'i=0; while [ $i -lt 300 ]; do i=$((i+1)); echo "✓ case $i works"; done; echo " FAIL  $1 > adds"; echo "expected 5"; exit 1',
    'sh',
    file,
  ],
});
const call = (file: string) => ({ calls: [{ tool: 'run_tests', input: { file } }] });

async function requestsOf(
  turns: Parameters<typeof scriptedModel>[0],
  request: Parameters<typeof liveThinking>[1] = {},
) {
  const model = scriptedModel(turns);
  const agent = defineAgent({ name: 'fixer', instructions: 'Fix it.', model, tools: [runTests] });
  const run = await liveThinking([agent], request);
  return { ...run, requests: model.exchanges.map(({ request }) => JSON.stringify(request.messages)) };
}

describe('a model that ran a failing command', () => {
  it('sees the failing test, and the command ran twice because it failed in the same way twice', async () => {
    const { requests, state } = await requestsOf([call('a.test.ts'), { text: 'It is broken.' }]);
    expect(requests[1]).toContain('FAIL  a.test.ts > adds');
    expect(requests[1]).toContain('expected 5');
    expect(state.ledger.used.attempts).toBe(2);
  });

  it('sees it also after several failed rounds, which are taken out of its conversation', async () => {
    const turns = [call('a.test.ts'), call('b.test.ts'), call('c.test.ts'), { text: 'It is broken.' }];
    const { requests } = await requestsOf(turns);
    expect(requests[2]).toContain('These calls failed and are over');
    expect(requests[2]).toContain('FAIL  b.test.ts > adds');
    expect(requests[3]).toContain('FAIL  c.test.ts > adds');
  });

  it('sees the failing test also if nobody answers the question about it and the step is left out', async () => {
    const humans = { max_questions: 1, deadline_ms: 1_000, default: 'skip' as const };
    const policy = { failures: { escalate_at: 1 }, humans };
    const { requests } = await requestsOf([call('a.test.ts'), { text: 'It is broken.' }], { policy });
    expect(requests[1]).toContain('Nobody answered in time');
    expect(requests[1]).toContain('FAIL  a.test.ts > adds');
  });

  it('does not wait for a retry if an earlier call of the same command failed in the same way', async () => {
    const { state } = await requestsOf([call('a.test.ts'), call('a.test.ts'), { text: 'It is broken.' }]);
    expect(state.ledger.used.attempts).toBe(3);
  });
});
