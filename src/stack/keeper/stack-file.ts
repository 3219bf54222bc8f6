import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProcessIdentity } from '../machine/process-identity.ts';
import { writeWholeFile } from '../machine/write-whole-file.ts';
import { errnoOf, messageOf, StackError } from '../stack-error.ts';

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

/**
 * Reads `stack.json`; undefined when there is none.
 * @throws StackError when something else is there.
 */
export function readStackFile(dataDir: string): StackFile | undefined {
  const path = pathIn(dataDir);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw badStackFile(path, code === 'EISDIR' ? 'it is a folder' : (code ?? messageOf(error)));
  }
  const file = parsed(text);
  if (!isStackFile(file)) throw badStackFile(path, text.trim() === '' ? 'it is empty' : 'its content is not ours');
  return file;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isStackFile(file: unknown): file is StackFile {
  if (typeof file !== 'object' || file === null) return false;
  const { version, ports, state, url } = file as Partial<Record<keyof StackFile, unknown>>;
  const arePorts = typeof ports === 'object' && ports !== null && Object.values(ports).every(Number.isInteger);
  const isUrl = url === undefined || (typeof url === 'string' && URL.canParse(url));
  return version === 1 && arePorts && isUrl && (state === 'starting' || state === 'ready' || state === 'stopped');
}

const badStackFile = (path: string, why: string): StackError =>
  new StackError(
    'bad_stack_file',
    `The file ${path} cannot be used: ${why}.`,
    'Remove it. The next start writes it again.',
  );

export async function writeStackFile(dataDir: string, file: StackFile): Promise<void> {
  const path = pathIn(dataDir);
  await writeWholeFile(path, `${JSON.stringify(file, null, 2)}\n`).catch((error: unknown) => {
    throw badStackFile(path, errnoOf(error) === 'EISDIR' ? 'it is a folder' : messageOf(error));
  });
}

/** Describes the owner as far as it is known: "process 4711 (keeper 4712), since …, http://…". */
export function describeOwner(dataDir: string, owner: ProcessIdentity): string {
  const file = stackFileOrNothing(dataDir);
  if (!file || file.pid !== owner.pid || file.process_start !== owner.started) return `process ${owner.pid}`;
  const where = file.url ?? (file.ports.temporal ? `Temporal on 127.0.0.1:${file.ports.temporal}` : undefined);
  return [`process ${file.parent_pid} (its keeper is ${owner.pid})`, `since ${file.started_at}`, where]
    .filter(Boolean)
    .join(', ');
}

function stackFileOrNothing(dataDir: string): StackFile | undefined {
  try {
    return readStackFile(dataDir);
  } catch {
    return undefined;
  }
}

function pathIn(dataDir: string): string {
  return join(dataDir, 'stack.json');
}
