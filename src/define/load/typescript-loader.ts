import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A Node that reads TypeScript, or one that was started with a loader that does. */
const readsTypeScript = (): boolean =>
  Boolean((process.features as { typescript?: unknown }).typescript) ||
  import.meta.url.endsWith('.ts') ||
  /(?:--import|--loader|--require|-r)[= ]\S*tsx/.test(
    [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''].join(' '),
  );

/** Where this Node reads no TypeScript, the tsx of the folder's own project does, if there is one. */
export async function helpWithTypeScript(folder: string): Promise<void> {
  if (readsTypeScript()) return;
  try {
    await import(pathToFileURL(createRequire(join(resolve(folder), 'agents.js')).resolve('tsx')).href);
  } catch {
    // None is there: the first file says what to do.
  }
}
