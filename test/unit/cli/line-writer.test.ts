/** Logs that cannot be written. /dev/full is a disk that is always full; Linux only. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { writeLines } from '../../../src/cli/serve/line-writer.ts';
import { program } from '../../support/programs.ts';

describe.skipIf(process.platform !== 'linux')('a log on a full disk', () => {
  it('leaves its lines out, says so once, and throws nothing', () => {
    const fd = openSync('/dev/full', 'w');
    onTestFinished(() => closeSync(fd));
    const said: string[] = [];
    const writer = writeLines(fd, (line) => said.push(line));
    for (let line = 0; line < 3; line += 1) writer.write('{"msg":"x"}\n');
    expect(said).toEqual([expect.stringMatching(/^The log cannot be written \(ENOSPC.*left out until it can\.$/)]);
  });

  it('is written again when there is room, and says how much is missing', () => {
    const folder = mkdtempSync(join(tmpdir(), 'secondwind-test-log-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, 'log');
    const fd = openSync(path, 'w');
    const said: string[] = [];
    const writer = writeLines(fd, (line) => said.push(line));
    closeSync(fd);
    writer.write('lost\n');
    writer.write('lost\n');
    // The lowest free number is given out again, so this is the same descriptor.
    const again = openSync(path, 'w');
    onTestFinished(() => closeSync(again));
    expect(again).toBe(fd);
    writer.write('there\n');
    expect(readFileSync(path, 'utf8')).toMatch(/^\{.*"lines":2,"msg":"lines are missing here.*\}\nthere\n$/);
    expect(said.at(-1)).toBe('The log is written again; 2 lines are missing in it.');
  });
});

const logging = `
  const { createLog } = await import(process.argv[1]);
  const log = createLog('stderr', []);
  for (let line = 0; line < 40000; line += 1) log.info({ text: 'x'.repeat(100) }, 'line');
  process.stdout.on('error', () => undefined);
  process.stdout.write('alive\\n');
  setInterval(() => undefined, 1000);
`;

describe.skipIf(process.platform !== 'linux')('a log in a pipe', () => {
  it.each(['that nobody reads', 'whose reader has gone'])('%s holds up nothing', async (how) => {
    const url = pathToFileURL(program('src/cli/serve/log.ts')).href;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', logging, url]);
    onTestFinished(() => void child.kill('SIGKILL'));
    if (how === 'whose reader has gone') child.stderr.destroy();
    const [said] = (await once(child.stdout, 'data')) as [Buffer];
    expect(said.toString()).toBe('alive\n');
    expect(child.exitCode).toBeNull();
  });
});
