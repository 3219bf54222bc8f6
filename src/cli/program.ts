import { Command } from 'commander';
import { addApi } from './commands/api.ts';
import { addBound } from './commands/bound.ts';
import { addDemo } from './commands/demo.ts';
import { addDev } from './commands/dev.ts';
import { addPolicy } from './commands/policy.ts';
import { addSimulate } from './commands/simulate.ts';
import { addWorker } from './commands/worker.ts';
import { ownVersion } from './version.ts';

/** Commands in the groups that `--help` shows; a group appears with its first command. */
const GROUPS: [heading: string, commands: ((program: Command) => void)[]][] = [
  ['Decide:', [addPolicy, addBound, addSimulate]],
  ['Operate:', [addDev, addDemo, addWorker, addApi]],
];

/** Only what parses flags is loaded here; each command loads what it needs when it runs. */
export function createProgram(): Command {
  const program = new Command('secondwind')
    .description('Durable agent runs that learn from their failures and know when to stop.')
    .version(ownVersion())
    .showSuggestionAfterError()
    .exitOverride()
    .addHelpText('after', '\nExit codes: 0 ok, 1 failed, 2 bad usage, 3 not reachable.');
  for (const [heading, commands] of GROUPS) {
    program.commandsGroup(heading);
    for (const add of commands) add(program);
  }
  return program;
}
