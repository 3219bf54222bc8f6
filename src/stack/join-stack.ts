import { join } from 'node:path';
import { lockOwner } from './machine/folder-lock.ts';
import { LOOPBACK } from './machine/ports.ts';
import { readStackFile, type StackFile } from './keeper/stack-file.ts';
import { clusterPassword } from './postgres/cluster.ts';
import { databaseUrl } from './postgres/server.ts';
import { prepareNamespace } from './temporal/namespace.ts';
import type { SearchAttributeTypes, Stack, StackExit } from './types.ts';

const STARTING_LIMIT_MS = 120_000;
const LOOK_AGAIN_MS = 250;

/**
 * Joins the stack that another process runs on this data folder, for example `secondwind dev`. Returns undefined if there is none, or
 * if it does not run both servers itself. `stop` ends nothing, because the stack belongs to the other process.
 */
export async function joinStack(options: {
  dataDir: string;
  namespace: string;
  searchAttributes: SearchAttributeTypes;
}): Promise<Stack | undefined> {
  const { dataDir, namespace } = options;
  const ports = (await readyStack(dataDir))?.ports;
  if (ports?.temporal === undefined || ports.postgres === undefined) return undefined;
  const temporalAddress = `${LOOPBACK}:${ports.temporal}`;
  const { searchAttributes } = await prepareNamespace({
    connection: { address: temporalAddress },
    namespace,
    searchAttributes: options.searchAttributes,
    owned: true,
  });
  let stopped: (exit: StackExit) => void = () => {};
  const exited = new Promise<StackExit>((resolve) => {
    stopped = resolve;
  });
  return {
    temporalAddress,
    namespace,
    databaseUrl: databaseUrl(await clusterPassword(dataDir), ports.postgres),
    dataDir,
    owned: { temporal: false, postgres: false },
    searchAttributes,
    stop: async () => stopped({ reason: 'stopped' }),
    exited,
  };
}

/** Waits while the other process is still starting. */
async function readyStack(dataDir: string): Promise<StackFile | undefined> {
  const givenUpAt = Date.now() + STARTING_LIMIT_MS;
  while (lockOwner(join(dataDir, 'lock')) !== undefined && Date.now() < givenUpAt) {
    const file = readStackFile(dataDir);
    if (file?.state === 'ready') return file;
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
  return undefined;
}
