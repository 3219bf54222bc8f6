/**
 * A process that owns a stack, to be killed by a test. Prints one JSON line when the stack is ready, `{"progress"}`
 * lines before and after, and one line when the stack has ended. It stays until it is killed or its stdin says `stop`.
 */
import { createInterface } from 'node:readline';
import { StackError, startStack } from '../../src/stack/start-stack.ts';
import type { StackOptions } from '../../src/stack/start-stack.ts';

const options: StackOptions = JSON.parse(process.argv[2] ?? '{}');

const say = (message: object): void => {
  process.stdout.write(`${JSON.stringify(message)}\n`);
};

async function main(): Promise<void> {
  const began = Date.now();
  const stack = await startStack({ ...options, progress: (line) => say({ progress: line }) });
  const { temporalAddress, databaseUrl, uiUrl, owned, searchAttributes } = stack;
  say({ ready: { temporalAddress, databaseUrl, uiUrl, owned, searchAttributes, ms: Date.now() - began } });
  createInterface({ input: process.stdin }).once('line', () => void stack.stop());
  const exit = await stack.exited;
  say({ exited: exit.reason === 'failed' ? exit.error.toJSON() : 'stopped' });
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    say({ error: error instanceof StackError ? error.toJSON() : String(error) });
    process.exit(error instanceof StackError ? error.exitCode : 1);
  },
);
