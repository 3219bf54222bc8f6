/** docs/cli.md against the program itself. */
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../../../src/cli/program.ts';
import { EXIT } from '../../../src/cli/report-error.ts';
import { blocks, section, tableRows } from './markdown.ts';

const page = 'docs/cli.md';
const { commands } = createProgram();
const groups = [...new Set(commands.map((command) => command.helpGroup().replace(':', '')))];

const usageOf = (command: Command): string =>
  [
    command.name(),
    ...command.registeredArguments.map((argument) =>
      argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
    ),
  ].join(' ');

describe('docs/cli.md', () => {
  it('has the groups of the help, in their order', () => {
    expect(groups).toEqual(['Look', 'Run', 'Decide', 'Operate']);
  });

  it.each(groups)('%s: has every command as the program describes it', (group) => {
    const known = commands
      .filter((command) => command.helpGroup() === `${group}:`)
      .map((command) => [`\`${usageOf(command)}\``, command.description()]);
    expect(tableRows(section(page, group))).toEqual(known);
  });

  it('has every exit code', () => {
    const codes = tableRows(section(page, 'Exit codes')).map(([code]) => Number(code));
    expect(codes).toEqual(Object.values(EXIT));
  });

  it('shows only commands and flags that there are; every command takes --json', () => {
    const lines = blocks(page, 'sh').flatMap((block) => block.trim().split('\n'));
    expect(lines.length).toBeGreaterThan(3);
    for (const line of lines) {
      const [, name = '', rest = ''] = /^npx secondwind (\w+)(.*)$/.exec(line) ?? [];
      const flags = commands.find((command) => command.name() === name)?.options.map(({ long }) => long);
      const unknown = [...rest.matchAll(/--[\w-]+/g)].map(([flag]) => flag).filter((flag) => !flags?.includes(flag));
      expect({ line, isKnown: flags !== undefined, unknown }).toEqual({ line, isKnown: true, unknown: [] });
    }
    const without = commands.filter(({ options }) => !options.some(({ long }) => long === '--json'));
    expect(without.map((command) => command.name())).toEqual([]);
  });
});
