/**
 * That ordinary code and prose are left alone: about 5 MB of them, chosen when the test runs from our own sources and pages
 * and from installed packages. Every redaction is listed by the failing assertion. Needs nothing.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { createRedactor } from '../../../../src/core/redaction/redact.ts';

const root = resolve(import.meta.dirname, '../../../..');
const PACKAGES = [
  'zod',
  'ai',
  'hono',
  'kysely',
  'commander',
  'pino',
  'fast-check',
  '@modelcontextprotocol',
  '@temporalio',
  'pg',
  'undici',
];
const WANTED_BYTES = 5_000_000;
const BYTES_OF_ONE = 450_000;
const MOST_ALARMS = 15;

function texts(folder: string, endings: RegExp, most: number): { file: string; text: string }[] {
  const found: { file: string; text: string }[] = [];
  let bytes = 0;
  for (const name of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).sort()) {
    if (!endings.test(name) || bytes > most) continue;
    const text = readFileSync(join(root, folder, name), 'utf8');
    bytes += text.length;
    found.push({ file: join(folder, name), text });
  }
  return found;
}

/** What was taken out, each with some text before it. */
function alarms({ file, text }: { file: string; text: string }): string[] {
  const clean = redact(text);
  if (clean === text) return [];
  return [...clean.matchAll(/\[redacted:[a-z0-9_]{1,40}\]/g)]
    .map(({ 0: mark, index }) => clean.slice(Math.max(0, index - 50), index + mark.length))
    .filter((seen) => !text.includes(seen))
    .map((seen) => `${file}: ${seen.replaceAll('\n', '⏎')}`);
}
const redact = createRedactor();

it('in 5 MB of code and prose at most one text in 100 KB is taken for a secret', { timeout: 60_000 }, () => {
  const corpus = [
    ...texts('src', /\.ts$/, 2_000_000).filter(({ file }) => !file.includes('redaction')),
    ...texts('docs', /^(?!redaction).*\.md$/, 1_000_000),
    ...PACKAGES.flatMap((name) => texts(join('node_modules', name), /\.(?:js|mjs|cjs|ts|md)$/, BYTES_OF_ONE)),
  ];
  const bytes = corpus.reduce((sum, { text }) => sum + text.length, 0);
  expect(bytes).toBeGreaterThan(WANTED_BYTES);
  const found = corpus.flatMap(alarms);
  // Today there are far fewer than one in 100 KB; what goes beyond that is listed, so that an eager rule is seen first.
  expect(found.slice(MOST_ALARMS)).toEqual([]);
  expect(MOST_ALARMS).toBeLessThanOrEqual(bytes / 100_000);
});

it.each([
  'sk-learn-training-2026-11-16',
  'loop_sk-learn-training-2026-11-16_r1',
  'const secret = abcdefgh12;',
  'const token = await getToken();',
  'password: string;',
  'apiKey: process.env.OPENAI_API_KEY,',
  'postgres://localhost:5432/app',
  'https://unpkg.com:443/@babel/core',
  'The basic internationalization of bearer authentication-schemes',
  'pk_customers_orders and sk_orders_2026',
  'the secret: there is none; the key: practice',
  'git@github.com:temporalio/sdk-typescript.git',
  'sha512-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ',
  'key-value-pairs, pat-in-mat, api-reference and access-control',
])('an id, code or a sentence is left alone: %s', (text) => {
  expect(redact(text)).toBe(text);
});
