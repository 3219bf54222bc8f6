/** The command `secondwind api` as a process: other machines can reach it only with a strong token. Needs no server. */
import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { program } from '../../support/programs.ts';

const api = (env: NodeJS.ProcessEnv, host = '0.0.0.0') => {
  const { PATH, HOME } = process.env;
  const args = [program('src/cli/main.ts'), 'api', '--port', '0', '--host', host];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env: { PATH, HOME, ...env } });
  return { status, stderr };
};
const REFUSED = 'cannot listen on 0.0.0.0 without a token of at least 16 characters';

// Each is a process of its own, and the machine may be busy.
describe('an API that other machines can reach', { timeout: 60_000 }, () => {
  it.each([
    ['without a token', {}],
    ['with a short token', { SECONDWIND_TOKEN: 'short' }],
    ['with a short token beside a strong one', { SECONDWIND_TOKENS: `operator:${'x'.repeat(24)},viewer:eyes` }],
  ])('an API that other machines can reach refuses to listen %s', (_what, env) => {
    expect(api(env)).toMatchObject({ status: 2, stderr: expect.stringContaining(REFUSED) });
  });

  it('an API that other machines can reach accepts a strong token, and then looks for Temporal', () => {
    const { stderr } = api({ SECONDWIND_TOKEN: 'x'.repeat(24) });
    expect(stderr).not.toContain('cannot listen');
    expect(stderr).toContain('TEMPORAL_ADDRESS is not set');
  });
});
