import { userInfo } from 'node:os';
import type { Command } from 'commander';

/** A command that asks the API: where it is, and how the answer should look. */
export const remoteCommand = (program: Command, usage: string, description: string): Command =>
  program
    .command(usage)
    .description(description)
    .option('--url <address>', 'the API to ask (default: the one that `secondwind dev` started)')
    .option('--data-dir <folder>', 'where `dev` keeps its token and address (default: SECONDWIND_DATA_DIR)')
    .option('--json', 'as JSON');

/** Who does it, for the audit: the name at this machine unless told otherwise. */
export const withPerson = (command: Command): Command =>
  command.option('--by <name>', 'who does this (default: your user name)');

export function personOf({ by }: { by?: string }): string {
  if (by !== undefined) return by;
  try {
    return userInfo().username || 'command line';
  } catch {
    // A container may run under a number that no name belongs to.
    return 'command line';
  }
}
