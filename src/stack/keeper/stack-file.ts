import { readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProcessIdentity } from '../machine/process-identity.ts';

/** `stack.json` tells people and the next start who owns the folder. It only informs; the lock decides. */
export interface StackFile {
  version: 1;
  state: 'starting' | 'ready' | 'stopped';
  /** The keeper's pid. */
  pid: number;
  process_start: string;
  /** The process that the keeper works for: `secondwind dev`, a test run. */
  parent_pid: number;
  started_at: string;
  url?: string;
  ports: { temporal?: number; temporal_ui?: number; postgres?: number };
}

export function readStackFile(dataDir: string): StackFile | undefined {
  try {
    const file: StackFile = JSON.parse(readFileSync(pathIn(dataDir), 'utf8'));
    return file.version === 1 && typeof file.ports === 'object' ? file : undefined;
  } catch {
    return undefined;
  }
}

export async function writeStackFile(dataDir: string, file: StackFile): Promise<void> {
  const path = pathIn(dataDir);
  await writeFile(`${path}.new`, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
}

/** Describes the owner as far as it is known: "process 4711 (keeper 4712), since …, http://…". */
export function describeOwner(dataDir: string, owner: ProcessIdentity): string {
  const file = readStackFile(dataDir);
  if (!file || file.pid !== owner.pid || file.process_start !== owner.started) return `process ${owner.pid}`;
  const where = file.url ?? (file.ports.temporal ? `Temporal on 127.0.0.1:${file.ports.temporal}` : undefined);
  return [`process ${file.parent_pid} (its keeper is ${owner.pid})`, `since ${file.started_at}`, where]
    .filter(Boolean)
    .join(', ');
}

function pathIn(dataDir: string): string {
  return join(dataDir, 'stack.json');
}
