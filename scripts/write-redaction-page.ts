/** Writes the table of docs/redaction.md from the rules: `npx tsx scripts/write-redaction-page.ts`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { ALL_RULES } from './redaction-rules.ts';

const PAGE = new URL('../docs/redaction.md', import.meta.url);
const BEGIN = '<!-- rules: written by scripts/write-redaction-page.ts -->';
const END = '<!-- end of rules -->';

const escaped = (text: string): string => text.replaceAll('|', '\\|');
const rows = ALL_RULES.map(({ name, about }) => `| \`${name}\` | ${escaped(about)} |`);
const table = ['', '| name | what it is |', '| --- | --- |', ...rows, ''].join('\n');
const page = readFileSync(PAGE, 'utf8');
const [before, rest = ''] = page.split(BEGIN);
writeFileSync(PAGE, `${before}${BEGIN}\n${table}\n${END}${rest.split(END)[1] ?? ''}`);
