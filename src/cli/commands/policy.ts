import type { Command } from 'commander';
import type { Json } from '../../protocol/json.ts';

export function addPolicy(program: Command): void {
  program
    .command('policy')
    .description('show every setting of a policy: the defaults, or with a file of yours over them')
    .option('--policy <file>', 'a JSON file with any part of a policy')
    .option('--json', 'as JSON')
    .action(async (flags: { policy?: string; json?: boolean }) => {
      const [{ mergePolicy }, { readPolicy }] = await Promise.all([
        import('../../core/policy/merge-policy.ts'),
        import('../read-input.ts'),
      ]);
      const policy = mergePolicy(flags.policy === undefined ? undefined : await readPolicy(flags.policy));
      const text = flags.json ? JSON.stringify(policy) : flatLines(policy).join('\n');
      process.stdout.write(`${text}\n`);
    });
}

/** `retry.base_ms  1000`, a line a setting: easy to read and to grep. */
function flatLines(value: Json, path = ''): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [`${path}  ${JSON.stringify(value)}`];
  return Object.entries(value).flatMap(([key, inner]) => flatLines(inner, path === '' ? key : `${path}.${key}`));
}
