import { readFileSync } from 'node:fs';

/** package.json is two folders up, both from `src` and from `dist`. */
export function ownVersion(): string {
  const file: { version: string } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return file.version;
}
