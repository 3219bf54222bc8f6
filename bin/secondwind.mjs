#!/usr/bin/env node
/** Starts the command line: the built one of the package, or in a clone, where nothing is built, its source by way of tsx. */
import { existsSync } from 'node:fs';

const built = new URL('../dist/cli/main.js', import.meta.url);
const source = new URL('../src/cli/main.ts', import.meta.url);
const isClone = existsSync(new URL('../tsconfig.json', import.meta.url));

if (isClone) {
  const { register } = await import('tsx/esm/api');
  register();
}
await import((isClone ? source : built).href);
