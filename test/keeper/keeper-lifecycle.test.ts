/**
 * Real stacks in their own processes are started, started twice, broken and stopped. Needs the binaries in the cache
 * and Linux.
 */
import { rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Client } from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isRunning } from '../../src/stack/machine/process-identity.ts';
import { clusterFolders } from '../../src/stack/postgres/cluster.ts';
import type { ReadyStack } from '../support/own-stack.ts';
import { pidOf, processesUsing, readStackJson, startParent, temporaryFolder } from '../support/own-stack.ts';

describe.skipIf(process.platform !== 'linux')('a data folder', () => {
  it('a data folder is refused to a second stack in one sentence that names the owner, who notices nothing', async () => {
    const dataDir = temporaryFolder('owner');
    const first = startParent({ dataDir, url: 'http://127.0.0.1:4100' });
    const ready = await first.ready;
    const second = startParent({ dataDir: join(dataDir, '..', dataDir.split('/').at(-1) ?? '') });
    const { pid } = readStackJson(dataDir);
    expect(await second.exited).toMatchObject({
      code: 'folder_in_use',
      exitCode: 1,
      message: expect.stringContaining(`process ${first.child.pid} (its keeper is ${pid})`),
      nextStep: expect.stringContaining('SECONDWIND_DATA_DIR'),
    });
    expect(await second.exited).toMatchObject({ message: expect.stringContaining('http://127.0.0.1:4100') });
    expect(second.child.exitCode).toBe(1);
    expect(await valueFrom(ready, 'select 7 as value')).toBe(7);
    await first.stop();
    expect(await first.exited).toBe('stopped');
    expect(processesUsing(dataDir).list()).toEqual([]);
    expect(readStackJson(dataDir).state).toBe('stopped');
  });

  it('a data folder has its own ports, so two stacks run side by side, and keeps them for the next start', async () => {
    const folders = [temporaryFolder('left'), temporaryFolder('right')];
    const parents = folders.map((dataDir) => startParent({ dataDir, ui: true }));
    const [left, right] = await Promise.all(parents.map((parent) => parent.ready));
    if (!left || !right) throw new Error('two were started');
    await valueFrom(left, `create table side as select 'left' as value`);
    await valueFrom(right, `create table side as select 'right' as value`);
    expect(await valueFrom(left, 'select value from side')).toBe('left');
    expect(await valueFrom(right, 'select value from side')).toBe('right');
    expect((await fetch(`${left.uiUrl}/`)).status).toBe(200);
    await Promise.all(parents.map((parent) => parent.stop()));
    const again = startParent({ dataDir: folders[0] ?? '' });
    expect(await again.ready).toMatchObject({ temporalAddress: left.temporalAddress, databaseUrl: left.databaseUrl });
    expect(await valueFrom(left, 'select value from side')).toBe('left');
  });

  it('a data folder is taken over when keeper and parent were both killed: what still runs is ended, never adopted', async () => {
    const dataDir = temporaryFolder('orphans');
    const first = startParent({ dataDir });
    await valueFrom(await first.ready, `create table kept as select 'here' as value`);
    const orphans = [pidOf('temporal.db', dataDir), pidOf('-D', `${dataDir}/postgres`)];
    // The parent is suspended first, so that it cannot clean up after its keeper.
    first.child.kill('SIGSTOP');
    process.kill(readStackJson(dataDir).pid, 'SIGKILL');
    await first.kill();
    expect(processesUsing(dataDir).list()).toEqual(expect.arrayContaining(orphans));
    const second = startParent({ dataDir });
    expect(await valueFrom(await second.ready, 'select value from kept')).toBe('here');
    for (const pid of orphans) expect(second.progress.join('\n')).toContain(`Ended process ${pid}`);
    expect([pidOf('temporal.db', dataDir), pidOf('-D', `${dataDir}/postgres`)]).not.toEqual(orphans);
  });
});

describe.skipIf(process.platform !== 'linux')('a running stack', () => {
  it('a running stack tells its owner when the keeper was killed, and leaves nothing behind', async () => {
    const dataDir = temporaryFolder('keeper-killed');
    const parent = startParent({ dataDir });
    await parent.ready;
    process.kill(readStackJson(dataDir).pid, 'SIGKILL');
    expect(await parent.exited).toMatchObject({ code: 'keeper_failed' });
    expect(processesUsing(dataDir).list()).toEqual([]);
  });

  it('a running stack starts a part that died again on the same port, and gives up with its name when it keeps dying', async () => {
    const dataDir = temporaryFolder('parts');
    const parent = startParent({ dataDir });
    const ready = await parent.ready;
    killPart(pidOf('-D', `${dataDir}/postgres`));
    killPart(pidOf('temporal.db', dataDir));
    await Promise.all([parent.hears('Postgres is back'), parent.hears('Temporal is back')]);
    expect(await valueFrom(ready, 'select 7 as value')).toBe(7);
    for (let death = 2; death <= 4; death += 1) {
      parent.progress.length = 0;
      killPart(pidOf('-D', `${dataDir}/postgres`));
      if (death < 4) await parent.hears('Postgres is back');
    }
    expect(await parent.exited).toMatchObject({
      code: 'postgres_failed',
      message: expect.stringContaining('after 3 restarts'),
    });
    expect(processesUsing(dataDir).list()).toEqual([]);
  });

  it('a running stack refuses a port that the user named when another program has it', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    const dataDir = temporaryFolder('port');
    const parent = startParent({ dataDir, ports: { temporal: port } });
    expect(await parent.exited).toMatchObject({
      code: 'port_taken',
      exitCode: 1,
      message: expect.stringContaining(`Port ${port} for Temporal`),
    });
    expect(processesUsing(dataDir).list()).toEqual([]);
    server.close();
  });

  it.runIf(process.getuid?.() === 0)(
    'a running stack runs Postgres as another user where root has no user namespaces',
    async () => {
      const dataDir = temporaryFolder('other-user');
      onTestFinished(() => rmSync(clusterFolders(dataDir).shared, { recursive: true, force: true }));
      const parent = startParent({ dataDir, postgresRootMode: 'unprivileged-user' });
      expect(await valueFrom(await parent.ready, 'select 7 as value')).toBe(7);
      await parent.stop();
      const again = startParent({ dataDir });
      expect(await valueFrom(await again.ready, 'select 7 as value')).toBe(7);
      const { process_start: started, pid } = readStackJson(dataDir);
      await again.stop();
      expect(isRunning({ pid, started })).toBe(false);
    },
  );
});

function killPart(pid: number | undefined): void {
  if (pid === undefined) throw new Error('the part is not running');
  process.kill(pid, 'SIGKILL');
}

async function valueFrom(ready: ReadyStack, sql: string): Promise<unknown> {
  const client = new Client({ connectionString: ready.databaseUrl });
  // Its server may be killed while the connection is open.
  client.on('error', () => {});
  await client.connect();
  try {
    const { rows } = await client.query<{ value: unknown }>(sql);
    return rows[0]?.value;
  } finally {
    await client.end();
  }
}
