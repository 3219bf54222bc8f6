/**
 * What a kill leaves behind while Postgres or its database is just being started: the next start must come up by itself.
 * Linux only, because the processes are found in /proc.
 */
import { existsSync, mkdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, describe, it, onTestFinished } from 'vitest';
import { clusterFolders } from '../../src/stack/postgres/cluster.ts';
import { pidOf, processesUsing, readStackJson, startParent, temporaryFolder } from '../support/own-stack.ts';

const folderOfCluster = (dataDir: string): string => {
  const { own, shared } = clusterFolders(dataDir);
  return existsSync(own) ? own : shared;
};

describe.skipIf(process.platform !== 'linux')('a start after a start that was cut off', () => {
  it.each([
    ['is empty', ''],
    ['has no pid', 'garbage\n\n'],
    ['has a pid of another program and nothing else', `${process.pid}`],
  ])('a start comes up on a lock file that %s', async (_what, text) => {
    const dataDir = temporaryFolder('lock-file');
    const first = startParent({ dataDir });
    await first.ready;
    await first.stop();
    writeFileSync(join(folderOfCluster(dataDir), 'postmaster.pid'), text);
    const second = startParent({ dataDir });
    expect((await second.ready).databaseUrl).toContain('postgres://');
    await second.stop();
  });

  it('a start comes up beside the rest of a database that was never finished', async () => {
    const dataDir = temporaryFolder('half-made');
    mkdirSync(join(dataDir, 'postgres.making', 'data', 'base'), { recursive: true });
    writeFileSync(join(dataDir, 'postgres.making', 'data', 'PG_VERSION'), '');
    for (const name of ['temporal.db', 'temporal.db-wal']) writeFileSync(join(dataDir, name), 'SQLite format 3');
    writeFileSync(join(dataDir, 'stack.json'), '{"version":1,"sta');
    const parent = startParent({ dataDir });
    expect((await parent.ready).databaseUrl).toContain('postgres://');
    await parent.stop();
  });

  it('a start waits for the last backends of a Postgres that was killed', async () => {
    const dataDir = temporaryFolder('backends');
    const first = startParent({ dataDir });
    await first.ready;
    const cluster = folderOfCluster(dataDir);
    const checkpointer = processesUsing(cluster)
      .list()
      .find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('checkpointer'));
    const [server, keeper] = [pidOf('-D', cluster), readStackJson(dataDir).pid];
    if (checkpointer === undefined || server === undefined) throw new Error('Postgres was not found');
    expect(readlinkSync(`/proc/${checkpointer}/cwd`)).toBe(cluster);
    const wakeUp = (): void => {
      if (existsSync(`/proc/${checkpointer}`)) process.kill(checkpointer, 'SIGCONT');
    };
    onTestFinished(wakeUp);
    process.kill(checkpointer, 'SIGSTOP');
    first.child.kill('SIGSTOP');
    process.kill(keeper, 'SIGKILL');
    process.kill(server, 'SIGKILL');
    await first.kill();

    const second = startParent({ dataDir });
    const log = (): string => readFileSync(join(dataDir, 'logs', 'postgres.log'), 'utf8');
    await expect.poll(log, { timeout: 30_000 }).toContain('is still in use');
    wakeUp();
    await second.ready;
    await second.stop();
  });
});
