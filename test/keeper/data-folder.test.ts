/** What a stack makes of its data folder, and what it says about a database that is damaged under it. Linux only. */
import { Client, Connection } from '@temporalio/client';
import { chmodSync, lstatSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkTemporal } from '../../src/client/temporal/check-temporal.ts';
import { startParent, temporaryFolder } from '../support/own-stack.ts';

/** Files below the folder that others than its owner may read. The cluster of Postgres sees to its own. */
function readableByOthers(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'postgres' ? [] : readableByOthers(path);
    return entry.isFile() && (lstatSync(path).mode & 0o077) !== 0 ? [path] : [];
  });
}

async function clientOf(address: string): Promise<Client> {
  const connection = await Connection.connect({ address });
  onTestFinished(() => connection.close());
  return new Client({ connection });
}

describe.skipIf(process.platform !== 'linux')('a data folder that others may look into', () => {
  it('a data folder that others may look into has only files that they may not read, also those of an earlier start', async () => {
    const dataDir = temporaryFolder('open');
    chmodSync(dataDir, 0o755);
    const first = startParent({ dataDir });
    await first.ready;
    expect(readableByOthers(dataDir)).toEqual([]);
    await first.stop();
    for (const name of ['temporal.db', 'stack.json', 'postgres.password', 'logs/temporal.log']) {
      chmodSync(join(dataDir, name), 0o644);
    }
    await startParent({ dataDir }).ready;
    expect(readableByOthers(dataDir)).toEqual([]);
  });
});

describe.skipIf(process.platform !== 'linux')('a damaged stack', () => {
  it('a damaged stack starts with a stack.json that is no JSON, and says that it writes it again', async () => {
    const dataDir = temporaryFolder('bad-json');
    writeFileSync(join(dataDir, 'stack.json'), 'not json');
    const parent = startParent({ dataDir });
    await parent.ready;
    expect(parent.progress).toContainEqual(expect.stringMatching(/stack\.json cannot be used.*It is written again\.$/));
  });

  it.each([
    ['is no database', 'x'.repeat(8_192), 'file is not a database'],
    ['is empty', '', 'no such table'],
  ])(
    'a Temporal database that %s is named, with what to do, and a new one is made when it is moved away',
    async (_what, text, why) => {
      const dataDir = temporaryFolder('damaged');
      const file = join(dataDir, 'temporal.db');
      writeFileSync(file, text);
      writeFileSync(`${file}.made`, '');
      expect(await startParent({ dataDir }).exited).toMatchObject({
        code: 'temporal_failed',
        message: expect.stringMatching(`^The Temporal database ${file} is damaged \\(${why}`),
        nextStep: expect.stringContaining('move every file temporal.db* out of the folder'),
      });
      for (const name of readdirSync(dataDir).filter(
        (each) => each.startsWith('temporal.db') && !each.endsWith('.made'),
      )) {
        rmSync(join(dataDir, name));
      }
      const again = startParent({ dataDir });
      expect((await again.ready).temporalAddress).toContain('127.0.0.1');
      await again.stop();
    },
  );

  it('the check of Temporal tells that the database was cut off under the server', async () => {
    const dataDir = temporaryFolder('cut');
    const { temporalAddress } = await startParent({ dataDir }).ready;
    const client = await clientOf(temporalAddress);
    const check = (): Promise<string> =>
      client
        .withDeadline(Date.now() + 2_000, () => checkTemporal(client))
        .then(
          () => 'ok',
          () => 'failed',
        );
    expect(await check()).toBe('ok');
    for (const name of readdirSync(dataDir).filter((each) => each.startsWith('temporal.db'))) {
      truncateSync(join(dataDir, name), 0);
    }
    await expect.poll(check).toBe('failed');
  });
});
