/** What `secondwind hook run` loads, because it runs twice per call of an agent. Needs nothing. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { program } from '../../support/programs.ts';

/** Runs on the loader's own thread, so it writes past everything to the file descriptor. */
const hook = `import { writeSync } from 'node:fs';
export async function load(url, context, next) { writeSync(2, 'loaded ' + url + '\\n'); return next(url, context); }`;
const register = `import { register } from 'node:module';
register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hook)}`)});`;

it('a hook loads no package but the hash function, and none of the command line', { timeout: 60_000 }, () => {
  const home = mkdtempSync(join(tmpdir(), 'secondwind-light-'));
  const args = ['--import', `data:text/javascript,${encodeURIComponent(register)}`, program('src/cli/main.ts')];
  const call = { session_id: 's', tool_name: 'Bash', tool_input: { command: 'ls' } };
  const { status, stderr } = spawnSync(process.execPath, [...args, 'hook', 'run', '--mode', 'enforce'], {
    encoding: 'utf8',
    input: JSON.stringify({ ...call, hook_event_name: 'PostToolUseFailure', error: 'Exit code 1' }),
    env: { ...process.env, SECONDWIND_DATA_DIR: home },
  });
  rmSync(home, { recursive: true, force: true });
  const loaded = stderr.split('\n').flatMap((line) => (line.startsWith('loaded ') ? [line.slice(7)] : []));
  expect(status).toBe(0);
  expect(loaded.some((url) => url.endsWith('/cli/hook/run-hook.js'))).toBe(true);
  const packages = loaded.flatMap((url) => /\/node_modules\/((?:@[^/]+\/)?[^/.][^/]*)\//.exec(url)?.[1] ?? []);
  expect([...new Set(packages)]).toEqual(['@noble/hashes']);
  expect(loaded.filter((url) => url.includes('/cli/commands/'))).toEqual([]);
});
