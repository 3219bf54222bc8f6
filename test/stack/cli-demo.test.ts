/** The demo as a process of its own, with the stack that it starts itself. Says nothing about how its lines look. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { program } from '../support/programs.ts';

const folder = mkdtempSync(join(tmpdir(), 'secondwind-demo-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it(
  'the demo completes: a retried failure, a killed worker, one question; no failure the next day; stuck after four reads',
  { timeout: 120_000 },
  async () => {
    const args = [program('src/cli/main.ts'), 'demo', '--json', '--data-dir', join(folder, 'data')];
    const env = { ...process.env, TEMPORAL_ADDRESS: '', DATABASE_URL: '' };
    const { stdout } = await promisify(execFile)(process.execPath, args, { env });
    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      figures: {
        alone_attempts: 9,
        first_day: { outcome: 'completed', attempts: 5, attempts_at_most: 14, failures: 2 },
        next_day: { outcome: 'completed', attempts: 3, failures: 0 },
        stuck: { outcome: 'finalized', attempts: 4, steps: 7, failures: 1 },
        orders: 2,
      },
    });
  },
);
