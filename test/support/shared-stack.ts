import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SEARCH_ATTRIBUTE_TYPES } from '../../src/protocol/names.ts';
import { startStack } from '../../src/stack/start-stack.ts';
import { lockOwner } from '../../src/stack/machine/folder-lock.ts';
import type { ProvidedStack } from './provided.ts';
import { makeTemplateDatabase } from './template-database.ts';

/** Also the prefix of folders that single tests make in own-stack.ts. */
const PREFIX = 'secondwind-test-';
const OLD_MS = 60 * 60_000;

export interface SharedStack {
  provided: Omit<ProvidedStack, 'bundlePath'>;
  stop(): Promise<void>;
}

/** Nothing on the fast stack is killed, so no row can be lost, and every file creates its own database. */
const FAST = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' };

/** `durable` is for a stack that tests kill. It has the product's settings, because its rows have to survive. */
export type SharedStackKind = 'fast' | 'durable';

export async function startSharedStack(kind: SharedStackKind): Promise<SharedStack> {
  await removeFoldersOfKilledRuns();
  const began = Date.now();
  const folder = await mkdtemp(join(tmpdir(), `${PREFIX}run-`));
  const starting = startStack({
    dataDir: join(folder, 'data'),
    progress: (line) => console.log(line),
    searchAttributes: SEARCH_ATTRIBUTE_TYPES,
    ...(kind === 'fast' && { postgresSettings: FAST }),
  });
  try {
    const stack = await starting;
    await makeTemplateDatabase(stack.databaseUrl);
    console.log(`Test stack ready after ${((Date.now() - began) / 1000).toFixed(1)} s`);
    const { temporalAddress, namespace, databaseUrl } = stack;
    return {
      provided: { temporalAddress, namespace, databaseUrl },
      stop: async () => {
        await stack.stop();
        await rm(folder, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await starting.then((stack) => stack.stop()).catch(() => {});
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/** A test run that was killed leaves no process, because its keeper ends them, but its folder stays. */
async function removeFoldersOfKilledRuns(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const folder = join(tmpdir(), name);
    if (!name.startsWith(PREFIX)) continue;
    if (lockOwner(join(folder, 'data', 'lock')) || lockOwner(join(folder, 'lock'))) continue;
    // A test run that has just started has no lock yet either.
    const age = Date.now() - (await stat(folder).then((found) => found.mtimeMs, Date.now));
    if (age > OLD_MS) await rm(folder, { recursive: true, force: true });
  }
}
