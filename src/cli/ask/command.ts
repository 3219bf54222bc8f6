import { userInfo } from 'node:os';
import type { Command } from 'commander';

/** Adds a command that calls the API, with the options that all such commands share. */
export const remoteCommand = (program: Command, usage: string, description: string): Command =>
  program
    .command(usage)
    .description(description)
    .option('--url <address>', 'the address of the API (default: the one that `secondwind dev` started)')
    .option('--data-dir <folder>', 'the folder where `dev` stores its token and address (default: SECONDWIND_DATA_DIR)')
    .option('--json', 'print JSON');

/** Adds `--by`, the person that is recorded for the action. Default: the user name on this machine. */
export const withPerson = (command: Command): Command =>
  command.option('--by <name>', 'the person to record for this action (default: your user name)');

export function readPerson({ by }: { by?: string }): string {
  if (by !== undefined) return by;
  try {
    return userInfo().username || 'command line';
  } catch {
    // In a container the user may have no name.
    return 'command line';
  }
}
