/**
 * Builds the dashboard (`src/dashboard`) into a folder: `node scripts/build-dashboard.mjs <folder>`. Plain JavaScript, so that
 * `secondwind dev` can start it in a clone without a loader. The folder appears at once and complete, because several processes may
 * build the same one at the same time.
 */
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

// Also when tests start this script: the files are those that people get.
process.env.NODE_ENV = 'production';
const root = fileURLToPath(new URL('../src/dashboard/', import.meta.url));
const target = resolve(process.argv[2] ?? 'dist/dashboard');
const building = `${target}.${process.pid}`;

await mkdir(dirname(target), { recursive: true });
await build({
  root,
  base: '/ui/',
  configFile: false,
  envDir: false,
  publicDir: false,
  logLevel: 'warn',
  build: {
    outDir: building,
    emptyOutDir: true,
    target: 'es2022',
    // The page allows nothing inline, and every browser that it supports preloads modules itself.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
// `dist` is built anew each time; a folder of the cache that another process made meanwhile is the same.
if (process.argv.includes('--replace')) await rm(target, { recursive: true, force: true });
try {
  await rename(building, target);
} catch (error) {
  await rm(building, { recursive: true, force: true });
  if (!existsSync(target)) throw error;
}
