/**
 * A process whose tool loses an error in the way that argv names, then is asked whether it still lives. Prints the
 * outcome of the attempt, what was logged, and the outcome of a tool that works.
 */
import { EventEmitter } from 'node:events';
import { readFile } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { executeTool } from '../../src/activities/tools/execute-tool.ts';
import { handleStrayErrors } from '../../src/activities/stray-errors.ts';
import { defineTool } from '../../src/define/define-tool.ts';
import type { ToolCallRequest } from '../../src/protocol/tools.ts';

const lost = new Error('lost by the tool');
const KINDS: Record<string, (signal: AbortSignal) => Promise<unknown>> = {
  rejection: (signal) => {
    void Promise.reject(lost);
    return sleep(60_000, null, { signal });
  },
  'async function': (signal) => {
    void (async () => {
      await sleep(5);
      throw lost;
    })();
    return sleep(60_000, null, { signal });
  },
  timer: () =>
    new Promise(() => {
      setTimeout(() => {
        throw lost;
      }, 5);
    }),
  emitter: () => new Promise(() => setTimeout(() => new EventEmitter().emit('error', lost), 5)),
  callback: () =>
    new Promise(() => {
      readFile('/nowhere', () => {
        throw lost;
      });
    }),
  'after its answer': async () => {
    setTimeout(() => {
      throw lost;
    }, 20);
    return 'done';
  },
};

const logs: string[] = [];
handleStrayErrors({ error: (message, fields) => logs.push(`${message}: ${String(fields['belongs_to'])}`) });

const toolOf = (run: (signal: AbortSignal) => Promise<unknown>) =>
  defineTool({
    name: 'tool',
    effect: 'read',
    input: z.object({}),
    output: z.json(),
    run: async (_input, { signal }) => (await run(signal)) as string,
  });
const request: ToolCallRequest = {
  run_id: 'run-1',
  agent: 'tester',
  loop_id: 'loop_run-1',
  step_id: 1,
  attempt: 1,
  phase: 'work',
  tool: 'tool',
  input: {},
  guidance: { rows: [], text: '' },
  constraints: {},
  idempotency_key: 'run-1:1',
  fence: 1,
  timeout_ms: 30_000,
  time_left_ms: 60_000,
  waited_ms: 0,
};
const execute = (run: (signal: AbortSignal) => Promise<unknown>) =>
  executeTool(toolOf(run), request, {
    signal: new AbortController().signal,
    stopped: () => null,
    heartbeat: () => undefined,
    waitForStore: (_purpose, ask) => ask(),
    loadArtifact: () => Promise.resolve(undefined),
    saveArtifact: () => Promise.resolve(),
    log: () => undefined,
    redact: (text) => text,
    now: () => Date.now(),
  });

const outcome = await execute(KINDS[process.argv[2] ?? ''] ?? (() => Promise.reject(new Error('no such kind'))));
void Promise.reject(new Error('nobody awaits this'));
await sleep(50);
const next = await execute(() => Promise.resolve('works'));
process.stdout.write(`${JSON.stringify({ outcome, logs, next })}\n`);
process.exit(0);
