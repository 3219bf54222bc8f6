import { readFileSync } from 'node:fs';

/** Two folders up both from source and from `dist`. */
export function ownVersion(): string {
  const file: { version: string } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return file.version;
}
