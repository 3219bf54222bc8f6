/** Every example, run as it stands on the shared stack: no key and no network, the model is a scripted server. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Message } from '../../src/core/transcript/message.ts';
import type { Agent } from '../../src/define/define-agent.ts';
import { type ScriptedServer, type ScriptedTurn, serveScriptedModel } from '../../src/testing.ts';
import { openRunWorld, type RunWorld } from '../support/run-world.ts';

const EXAMPLES = new URL('../../examples/', import.meta.url);

/** What the model does, by what it was told it is and how often it has spoken; nothing is kept between requests. */
const PARTS: [words: string, turns: ((results: string[]) => ScriptedTurn)[]][] = [
  [
    'You read invoices',
    [
      () => ({ calls: [{ tool: 'read_invoice', input: { number: 'A-17' } }] }),
      () => ({ json: { supplier: 'Bolts & Co.', total_cents: 'about 26' } }),
    ],
  ],
  [
    'You mend a project',
    [
      () => ({ calls: [{ tool: 'run_tests', input: {} }] }),
      (results) =>
        /exit_code\W+1\b.*not ok|exit_code\W+1\b.*✖/.test(results.at(-1) ?? '')
          ? {
              calls: [
                { tool: 'write_source', input: { file: 'sum.mjs', text: 'export const sum = (a, b) => a + b;\n' } },
              ],
            }
          : { text: 'There is nothing to mend.' },
      () => ({ calls: [{ tool: 'run_tests', input: {} }] }),
      (results) => ({ json: { passed: /exit_code\W+0\b/.test(results.at(-1) ?? ''), changed: ['sum.mjs'] } }),
    ],
  ],
  [
    'about the stock',
    [
      () => ({ calls: [{ tool: 'stock', input: { item: 'bolt M8' } }] }),
      (results) => ({ text: `The shop says ${results.at(-1)}` }),
    ],
  ],
  [
    'from the notes',
    [
      () => ({ calls: [{ tool: 'notes_read_note', input: { title: 'milk' } }] }),
      (results) => ({ text: `The note says ${results.at(-1)}` }),
    ],
  ],
  [
    'You pay what',
    [
      () => ({ calls: [{ tool: 'pay', input: { to: 'Bolts & Co.', cents: 2650 } }] }),
      (results) => ({ text: `It went like this: ${results.at(-1)}` }),
    ],
  ],
];

function script({ messages }: { messages: Message[] }): ScriptedTurn {
  const [system] = messages;
  const told = system?.role === 'system' ? system.text : '';
  const turns = PARTS.find(([words]) => told.includes(words))?.[1] ?? [];
  const spoken = messages.filter((message) => message.role === 'assistant' && message.calls.length > 0).length;
  const results = messages.flatMap((message) => (message.role === 'tool' ? [JSON.stringify(message.output)] : []));
  // The answer that broke its schema is shown to the model that gave it: then it does better.
  if (JSON.stringify(messages.at(-1)).includes('could not be used')) {
    return { json: { supplier: 'Bolts & Co.', total_cents: 2650 } };
  }
  return turns[spoken]?.(results) ?? { text: 'I have nothing more to say.' };
}

let asked = 0;
const shop: Server = createServer((_request, response) => {
  asked += 1;
  response.writeHead(asked === 1 ? 503 : 200, { 'content-type': 'application/json' });
  response.end(asked === 1 ? '{}' : '{"left": 7}');
});

const project = mkdtempSync(join(tmpdir(), 'secondwind-example-'));
let model: ScriptedServer;
let world: RunWorld;
const agents: Record<string, Agent> = {};
let closeNotes = (): Promise<void> => Promise.resolve();

beforeAll(async () => {
  writeFileSync(join(project, 'sum.mjs'), 'export const sum = (a, b) => a - b;\n');
  writeFileSync(
    join(project, 'sum.test.mjs'),
    `import assert from 'node:assert'; import { test } from 'node:test'; import { sum } from './sum.mjs';
     test('adds', () => assert.equal(sum(2, 3), 5));\n`,
  );
  await new Promise<void>((resolve) => void shop.listen(0, '127.0.0.1', resolve));
  model = await serveScriptedModel(script);
  vi.stubEnv('OPENAI_BASE_URL', model.url);
  vi.stubEnv('OPENAI_API_KEY', 'none');
  vi.stubEnv('MODEL', 'scripted');
  vi.stubEnv('PROJECT_DIR', project);
  vi.stubEnv('SHOP_URL', `http://127.0.0.1:${(shop.address() as AddressInfo).port}`);
  agents['thinking'] = (await import('../../examples/thinking.ts')).default;
  agents['fix-tests'] = (await import('../../examples/fix-tests.ts')).default;
  agents['http'] = (await import('../../examples/http.ts')).default;
  agents['approval'] = (await import('../../examples/approval.ts')).default;
  const mcp = await import('../../examples/mcp.ts');
  agents['mcp'] = mcp.default;
  closeNotes = () => mcp.notes.close();
  world = await openRunWorld(Object.values(agents));
  await world.startWorker();
}, 120_000);
afterAll(async () => {
  await world.close();
  await closeNotes();
  await model.close();
  await new Promise((resolve) => shop.close(resolve));
  rmSync(project, { recursive: true, force: true });
  vi.unstubAllEnvs();
});

async function start(example: string, goal: string): Promise<string> {
  const run_id = world.newRunId(example);
  const agent = agents[example]?.name ?? '';
  await world.runs.start({ agent, goal, run_id, policy: { retry: { base_ms: 20 } } });
  return run_id;
}

/** Waits for the question and answers it. */
async function answer(runId: string, decision: 'approve' | 'deny'): Promise<void> {
  const asks = async () => (await world.runs.get(runId)).pending_question?.question_id;
  await expect.poll(asks, { timeout: 20_000 }).toBeDefined();
  await world.runs.answer(runId, { question_id: (await asks()) ?? '', decision, by: 'ada' });
}

describe('the examples', { timeout: 60_000 }, () => {
  it('have less than 80 lines each', () => {
    for (const file of readdirSync(EXAMPLES)) {
      expect(readFileSync(new URL(file, EXAMPLES), 'utf8').split('\n').length).toBeLessThan(80);
    }
  });

  it('thinking: hands back what the schema says, after a mended answer', async () => {
    const { default: clerk } = await import('../../examples/thinking.ts');
    const result = await world.runs.result(await start('thinking', 'What do we owe on A-17?'), { agent: clerk });
    expect(result).toMatchObject({ outcome: 'completed', used: { steps: 1, model_calls: 3 } });
    expect(result.result?.output.total_cents).toBe(2650);
  });

  it('fix-tests: runs a failing suite, mends the source, and the suite passes', async () => {
    const result = await world.runs.result(await start('fix-tests', 'Make the tests pass'));
    expect(result).toMatchObject({ outcome: 'completed', result: { output: { passed: true } }, used: { steps: 3 } });
    expect(readFileSync(join(project, 'sum.mjs'), 'utf8')).toContain('a + b');
  });

  it('http: a busy service is asked again by the run', async () => {
    const result = await world.runs.result(await start('http', 'How many bolts are left?'));
    expect(result).toMatchObject({ outcome: 'completed', used: { steps: 1, attempts: 2, model_calls: 2 } });
    expect(result.result?.output).toContain('7');
  });

  it('mcp: answers from a tool of a server', async () => {
    const result = await world.runs.result(await start('mcp', 'What does the note on milk say?'));
    expect(result.result?.output).toContain('Two litres, by Friday.');
  });

  it('approval: nothing is paid before a person has said so, and denied is told as denied', async () => {
    const { payments } = await import('../../examples/approval.ts');
    const yes = await start('approval', 'Pay 26.50 to Bolts & Co.');
    await answer(yes, 'approve');
    expect(await world.runs.result(yes)).toMatchObject({ outcome: 'completed' });
    expect([...payments.values()]).toEqual([{ to: 'Bolts & Co.', cents: 2650 }]);
    const no = await start('approval', 'Pay 26.50 to Bolts & Co.');
    await answer(no, 'deny');
    const denied = await world.runs.result(no);
    expect(denied.result?.output).toContain('denied: a person said no');
    expect(payments.size).toBe(1);
  });
});
