/**
 * An agent whose tools are slow on purpose. They write to a file that they have started, and wait to be killed or
 * stopped.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { defineAgent } from '../../src/define/define-agent.ts';
import { defineTool } from '../../src/define/define-tool.ts';
import { ToolError } from '../../src/define/tool-error.ts';

export interface WorkerProcessOptions {
  address: string;
  namespace: string;
  taskQueue: string;
  databaseUrl: string;
  bundlePath: string;
  noteFile: string;
  /**
   * Starts but takes no work until it gets a line on stdin, so that a test measures the run and not the start of a
   * process.
   */
  standby?: boolean;
}

const FOREVER_MS = 600_000;

export function killableAgent(noteFile: string) {
  const note = (what: string, key: string) => appendFileSync(noteFile, `${what} ${key}\n`);
  const common = { input: z.object({}).loose(), output: z.json() };
  return defineAgent({
    name: 'killable',
    tools: [
      /** The first attempt hangs until it is stopped; the next one answers at once. */
      defineTool({
        ...common,
        name: 'hang.read',
        effect: 'read',
        timeoutMs: FOREVER_MS,
        run: async (_input, { attempt, idempotencyKey, signal }) => {
          note('begun', idempotencyKey);
          if (attempt === 1) await sleep(FOREVER_MS, undefined, { signal });
          return { attempt };
        },
      }),
      /** Applies its effect, and never answers. */
      defineTool({
        ...common,
        name: 'hang.effect',
        effect: 'side_effect',
        timeoutMs: FOREVER_MS,
        run: async (_input, { idempotencyKey, signal }) => {
          note('effect', idempotencyKey);
          await sleep(FOREVER_MS, undefined, { signal });
          return null;
        },
      }),
      /** Takes a moment to stop after its signal, but less than the worker's grace period. */
      defineTool({
        ...common,
        name: 'finish.effect',
        effect: 'side_effect',
        run: async (_input, { idempotencyKey }) => {
          note('effect', idempotencyKey);
          await sleep(1_500);
          return { done: true };
        },
      }),
      /** Acts late, does not look at its signal, and can find out whether it has acted. */
      defineTool({
        ...common,
        name: 'late.effect',
        effect: 'side_effect',
        timeoutMs: 15_000,
        run: async (_input, { attempt, idempotencyKey }) => {
          note('begun', idempotencyKey);
          if (attempt === 1) await sleep(8_000);
          note('effect', idempotencyKey);
          return null;
        },
        reconcile: (_input, { idempotencyKey }) => {
          const done = readFileSync(noteFile, 'utf8').includes(`effect ${idempotencyKey}\n`);
          return done ? { verdict: 'done', output: null } : { verdict: 'not_done' };
        },
      }),
      defineTool({
        ...common,
        name: 'fail.thrice',
        effect: 'read',
        run: (_input, { attempt, idempotencyKey }) => {
          note('begun', idempotencyKey);
          if (attempt <= 3) throw new ToolError('the service is away', { category: 'server_error', code: 'HTTP_503' });
          return { attempt };
        },
      }),
    ],
  });
}
