import type { Command } from 'commander';
import type { PolicyRow } from '../../protocol/policy-table.ts';
import type { Column } from '../show/table.ts';

export function addPolicy(program: Command): void {
  program
    .command('policy')
    .description('show every policy setting: the defaults, or the defaults with your file applied')
    .option('--policy <file>', 'a JSON file with any part of a policy')
    .option('--json', 'print JSON')
    .action(async (flags: { policy?: string; json?: boolean }) => {
      const [{ mergePolicy }, { POLICY_ROWS }, { readPolicy }, { print }, { table, terminalWidth }] = await Promise.all(
        [
          import('../../core/policy/merge-policy.ts'),
          import('../../protocol/policy-table.ts'),
          import('../read-input.ts'),
          import('../show/print.ts'),
          import('../show/table.ts'),
        ],
      );
      const policy = mergePolicy(flags.policy === undefined ? undefined : await readPolicy(flags.policy));
      const columns: Column<PolicyRow>[] = [
        { head: 'SETTING', cell: ({ path }) => path },
        { head: 'VALUE', cell: ({ keys }) => JSON.stringify(valueAt(policy, keys)) },
        { head: 'MEANING', cell: ({ setting }) => setting.sentence, flexible: true },
      ];
      print(flags, policy, () => table(columns, POLICY_ROWS, terminalWidth()));
    });
}

const valueAt = (policy: object, keys: readonly string[]): unknown =>
  keys.reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], policy);
