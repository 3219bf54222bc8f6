import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';

const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin';

/** The program cannot be started. This is found before the start, so it is certain that nothing happened. */
class CannotStart extends Error {
  readonly code: string;
  readonly certainty = 'not_started';
  constructor(what: string, code: string) {
    super(`spawn ${what} ${code}`);
    this.code = code;
  }
}

/** Finds the file of a program on the PATH, as the operating system would. */
export async function findProgram(name: string, cwd: string, path: string | undefined): Promise<string> {
  if (!(await isFolder(cwd))) throw new CannotStart(`in ${cwd}`, 'ENOTDIR');
  if (name.includes('/')) return runnable(isAbsolute(name) ? name : resolve(cwd, name), name);
  for (const folder of (path ?? DEFAULT_PATH).split(delimiter)) {
    const file = join(isAbsolute(folder) ? folder : resolve(cwd, folder), name);
    const found = await runnable(file, name).catch(() => null);
    if (found !== null) return found;
  }
  throw new CannotStart(name, 'ENOENT');
}

async function runnable(file: string, name: string): Promise<string> {
  const found = await stat(file).catch(() => null);
  if (found === null) throw new CannotStart(name, 'ENOENT');
  const allowed = await access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!found.isFile() || !allowed) throw new CannotStart(name, 'EACCES');
  return file;
}

const isFolder = async (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
