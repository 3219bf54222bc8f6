/** The one call from code, as a user's own program makes it: with an embedded stack, and beside a stack that runs already. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { StackParent } from '../support/own-stack.ts';
import { blocks, ROOT } from '../unit/docs/markdown.ts';

const run = promisify(execFile);

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'secondwind-test-embedded-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

async function runExample(dataDir: string): Promise<string> {
  const env = { ...process.env, TEMPORAL_ADDRESS: '', DATABASE_URL: '', SECONDWIND_DATA_DIR: dataDir };
  const { stdout } = await run(process.execPath, ['--import', 'tsx', 'examples/minimal.ts'], { cwd: ROOT, env });
  return stdout;
}

const printed = (): string => blocks('README.md', 'text')[0] ?? '';

describe('createSecondwind', () => {
  it('starts all that the example of the README needs, twice on one folder, and leaves nothing running', async () => {
    const dataDir = newFolder();
    expect(await runExample(dataDir)).toBe(printed());
    expect(await runExample(dataDir)).toBe(printed());
    expect(JSON.parse(readFileSync(join(dataDir, 'stack.json'), 'utf8'))).toMatchObject({ state: 'stopped' });
  });

  it('joins a stack that another process runs on the folder, and leaves it running', async () => {
    const dataDir = newFolder();
    const other = new StackParent({ dataDir });
    onTestFinished(() => other.stop());
    await other.ready;
    expect(await runExample(dataDir)).toBe(printed());
    expect(JSON.parse(readFileSync(join(dataDir, 'stack.json'), 'utf8'))).toMatchObject({ state: 'ready' });
  });
});
