/** The command `secondwind api` as a process: it opens no door beyond this machine without a lock. Needs no server. */
import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { program } from '../../support/programs.ts';

const api = (env: NodeJS.ProcessEnv, host = '0.0.0.0') => {
  const { PATH, HOME } = process.env;
  const args = [program('src/cli/main.ts'), 'api', '--port', '0', '--host', host];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env: { PATH, HOME, ...env } });
  return { status, stderr };
};
const REFUSED = 'not opened to 0.0.0.0 without a token of at least 16 characters';

// Each is a process of its own, and the machine may be busy.
describe('a door that others can reach', { timeout: 60_000 }, () => {
  it.each([
    ['without a token', {}],
    ['with a token that can be guessed', { SECONDWIND_TOKEN: 'short' }],
    ['with one that can be guessed among others', { SECONDWIND_TOKENS: `operator:${'x'.repeat(24)},viewer:eyes` }],
  ])('is not opened %s', (_what, env) => {
    expect(api(env)).toMatchObject({ status: 2, stderr: expect.stringContaining(REFUSED) });
  });

  it('is opened with tokens that nobody guesses, and then the stack is looked for', () => {
    const { stderr } = api({ SECONDWIND_TOKEN: 'x'.repeat(24) });
    expect(stderr).not.toContain('not opened');
    expect(stderr).toContain('TEMPORAL_ADDRESS is not set');
  });
});
