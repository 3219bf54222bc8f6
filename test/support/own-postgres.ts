/** A real Postgres of a test's own that can be stopped and started again on the same port. */
import { mkdtempSync, mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { preparePostgres } from '../../src/stack/keeper/parts.ts';
import { cacheDir } from '../../src/stack/machine/cache-dir.ts';
import { POSTGRES_STOP } from '../../src/stack/postgres/server.ts';
import { migrateToLatest } from '../../src/store/migrate.ts';

export interface OwnPostgres {
  databaseUrl: string;
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Ends it for good and removes its files. */
  close(): Promise<void>;
}

export async function startOwnPostgres(): Promise<OwnPostgres> {
  const dataDir = mkdtempSync(join(tmpdir(), 'secondwind-test-postgres-'));
  mkdirSync(join(dataDir, 'logs'));
  const wanted = { settings: {}, rootMode: 'auto' } as const;
  const { launchFirst, launchAgain, urlOn } = await preparePostgres({
    plan: { dataDir, parentPid: process.pid, ports: {} },
    wanted,
    env: process.env,
    cacheDir: cacheDir(process.env),
    last: {},
    progress: () => undefined,
  });
  let { group, ports: port } = await launchFirst();
  const databaseUrl = urlOn(port);
  await migrateToLatest(databaseUrl);
  const stop = async (): Promise<void> => {
    if (!group.gone) await group.stop(POSTGRES_STOP);
  };
  return {
    databaseUrl,
    stop,
    start: async () => {
      group = await launchAgain(port);
    },
    close: async () => {
      await stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
