/** What the tests of the documentation read from it. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** Every page, as a path from the project's root. */
export const PAGES: string[] = [
  ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
  ...readdirSync(`${ROOT}docs`, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
].sort();

export const pageText = (page: string): string => readFileSync(ROOT + page, 'utf8');

/** The fenced blocks of one language, in order. */
export const blocks = (page: string, language: string): string[] =>
  [...pageText(page).matchAll(/^```(?<language>\w+)\n(?<code>[^]*?)^```$/gm)]
    .filter((match) => match.groups?.['language'] === language)
    .map((match) => match.groups?.['code'] ?? '');

/** The page without its fenced blocks. */
export const prose = (page: string): string => pageText(page).replaceAll(/^```\w+\n[^]*?^```$/gm, '');

/** What stands between a heading and the next one. */
export function section(page: string, heading: string): string {
  const [, after] = pageText(page).split(new RegExp(`^#+ ${escaped(heading)}$`, 'm'));
  if (after === undefined) throw new Error(`${page} has no heading "${heading}"`);
  return after.split(/^#+ /m)[0] ?? '';
}

/** The cells of every table row in a text, without heads and rules. */
export function tableRows(text: string): string[][] {
  const lines = text.split('\n');
  return lines
    .filter((line, index) => line.startsWith('|') && !isRule(line) && !isRule(lines[index + 1] ?? ''))
    .map((line) => line.split('|').slice(1, -1).map(cell));
}

const isRule = (line: string): boolean => /^\|[\s:|-]+\|$/.test(line);
const cell = (text: string): string => text.trim();

/** `name` without its backticks. */
export const bare = (text: string | undefined): string => (text ?? '').replaceAll('`', '');

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
