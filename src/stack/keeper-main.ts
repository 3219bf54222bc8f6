/**
 * The keeper's own process. Its parent holds the other end of stdin and writes only commands to it. When that pipe
 * closes, the parent has ended in some way, so the keeper ends everything that it has started.
 */
import { createInterface } from 'node:readline';
import { StackError } from './stack-error.ts';
import { Keeper } from './keeper/keeper.ts';
import type { FromKeeper, KeeperPlan, ToKeeper } from './keeper/messages.ts';
import { encode } from './keeper/messages.ts';
import { killAllGroups } from './machine/process-group.ts';

const LOOK_AT_LOGS = 'Look at the folder logs/ of the data folder, and start the stack again.';

let keeper: Keeper | undefined;
let ending: 'no' | 'in order' | 'hurried' = 'no';

function tell(message: FromKeeper): void {
  if (process.stdout.writable) process.stdout.write(encode(message));
}

async function end(options: { hurried: boolean; error?: StackError }): Promise<void> {
  // On a second stop, or if the parent ends meanwhile, stop again but faster.
  if (ending === 'hurried' || (ending === 'in order' && !options.hurried)) return;
  ending = options.hurried ? 'hurried' : 'in order';
  if (options.error) tell({ kind: 'failed', error: options.error.toJSON() });
  try {
    await keeper?.stop(options);
  } finally {
    // This also ends a build, a download or the creation of a database.
    killAllGroups();
    leave(options.error ? 1 : 0);
  }
}

/** Exits after the last message is written, because process.exit() would cut it off. */
function leave(code: number): void {
  process.exitCode = code;
  const exit = (): void => process.exit();
  if (process.stdout.writable) process.stdout.end(exit);
  else exit();
}

async function start(plan: KeeperPlan): Promise<void> {
  const progress = (line: string): void => tell({ kind: 'progress', line });
  const onGivenUp = (error: StackError): void => void end({ hurried: false, error });
  try {
    keeper = new Keeper({ plan, env: process.env, progress, onGivenUp });
    const result = await keeper.start();
    if (ending === 'no') tell({ kind: 'ready', ...result });
  } catch (error) {
    await end({ hurried: true, error: StackError.from(error, LOOK_AT_LOGS) });
  }
}

// A write error means that the parent has ended, which the end of stdin reports as well.
process.stdout.on('error', () => {});
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => void end({ hurried: false }));
process.on('uncaughtException', (error) => void end({ hurried: true, error: StackError.from(error, LOOK_AT_LOGS) }));

const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const message: ToKeeper = JSON.parse(line);
  if (message.kind === 'start') void start(message.plan);
  else void end({ hurried: ending !== 'no' });
});
lines.on('close', () => void end({ hurried: true }));
