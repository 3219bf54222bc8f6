import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

/** One file of the dashboard, ready to be sent. */
export interface DashboardFile {
  bytes: Uint8Array;
  gzipped: Uint8Array;
  type: string;
  /** The name contains a hash of the content, so a browser may keep the file for ever. */
  isImmutable: boolean;
}

/** The files by their path below `/ui/`. A request can only name an entry of this map, and never a path on the disk. */
export type DashboardFiles = ReadonlyMap<string, DashboardFile>;

export const INDEX = 'index.html';

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Reads the built dashboard from a folder. Files of other kinds are left out. Throws if there is no index page. */
export async function readDashboard(folder: string): Promise<DashboardFiles> {
  const files = new Map<string, DashboardFile>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const type = TYPES[extname(entry.name)];
    if (!entry.isFile() || type === undefined) continue;
    const bytes = await readFile(join(entry.parentPath, entry.name));
    const inside = entry.parentPath.slice(folder.length).split(/[\\/]/).filter(Boolean);
    const isImmutable = inside[0] === 'assets';
    files.set([...inside, entry.name].join('/'), { bytes, gzipped: await promisify(gzip)(bytes), type, isImmutable });
  }
  if (!files.has(INDEX)) throw new Error(`${folder} has no ${INDEX}.`);
  return files;
}
