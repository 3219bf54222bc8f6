/**
 * Writes the tables of docs/policy.md from the policy table. Run it after a change of the table:
 *   npx tsx scripts/write-policy-page.ts
 * A test fails while the page and the table differ.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type ListSetting, POLICY_TABLE, type Setting, type SettingGroup } from '../src/protocol/policy-table.ts';

const PAGE = fileURLToPath(new URL('../docs/policy.md', import.meta.url));
const FIRST_TABLE = '## Mode\n';

/** The page as it should be: its own introduction, then the tables. */
export function withTables(page: string): string {
  const [introduction = ''] = page.split(FIRST_TABLE);
  return `${introduction}${sections().join('\n\n')}\n`;
}

function sections(): string[] {
  const { mode, ...groups } = POLICY_TABLE;
  return [
    `${FIRST_TABLE}\n${tableOf([['mode', mode]])}`,
    ...Object.entries<SettingGroup>(groups).map(([key, { sentence, settings }]) => {
      const rows = Object.entries(settings).map(([name, setting]): Row => [`${key}.${name}`, setting]);
      return `## \`${key}\`\n\n${sentence}\n\n${tableOf(rows)}`;
    }),
  ];
}

type Row = [path: string, setting: Setting];

function tableOf(rows: Row[]): string {
  const cells = rows.map(([path, setting]) => [
    `\`${path}\``,
    `\`${JSON.stringify(setting.default)}\``,
    allowed(setting),
    setting.sentence,
  ]);
  const lines = [['key', 'default', 'allowed', 'meaning'], ...cells];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const padded = lines.map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)));
  const [head = [], ...body] = padded;
  const rule = widths.map((width) => '-'.repeat(width));
  return [head, rule, ...body].map((line) => `| ${line.join(' | ')} |`).join('\n');
}

function allowed(setting: Setting): string {
  switch (setting.type) {
    case 'integer':
      return `whole number, ${setting.min} to ${setting.max}`;
    case 'number':
      return `number, ${setting.min} to ${setting.max}`;
    case 'integer_or_null':
      return `whole number, ${setting.min} to ${setting.max}, or null`;
    case 'boolean':
      return 'true or false';
    case 'choice':
      return setting.choices.map((choice) => `\`${choice}\``).join(', ');
    case 'list':
      return `a list of up to ${setting.maxItems} ${itemsOf(setting.items)}`;
  }
}

const itemsOf = ({ format, minChars, maxChars }: ListSetting['items']): string =>
  format === 'url' ? `URLs of up to ${maxChars} characters` : `texts of ${minChars} to ${maxChars} characters`;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(PAGE, withTables(readFileSync(PAGE, 'utf8')));
}
