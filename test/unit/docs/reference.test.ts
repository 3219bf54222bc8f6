/** Tables of the documentation against the code that they describe, so that neither can change alone. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { withTables } from '../../../scripts/write-policy-page.ts';
import { PROBLEM_CODES, problemStatus } from '../../../src/api/problem.ts';
import { ROUTES } from '../../../src/api/routes/all-routes.ts';
import { retryLimit, strategyOf } from '../../../src/core/retry/strategies.ts';
import { receive } from '../../../src/core/run/messages.ts';
import { openRun } from '../../../src/core/run/state.ts';
import { CAP } from '../../../src/protocol/caps.ts';
import { FAILURE_CATEGORIES } from '../../../src/protocol/failure-categories.ts';
import type { RunMessage } from '../../../src/protocol/messages.ts';
import {
  ACTIVITY,
  MEMO,
  MESSAGE,
  QUERY,
  SEARCH_ATTRIBUTE_TYPES,
  TASK_QUEUE,
  WORKFLOW_TYPE,
} from '../../../src/protocol/names.ts';
import { DEFAULT_POLICY } from '../../../src/protocol/policy.ts';
import { DECISIONS } from '../../../src/protocol/questions.ts';
import { runRequestSchema } from '../../../src/protocol/schemas/run-request.ts';
import { plainRegistry, prepared } from '../../support/fixtures.ts';
import { bare, blocks, pageText, ROOT, section, tableRows } from './markdown.ts';

const firstColumn = (text: string): string[] => tableRows(text).map(([first]) => bare(first));

/** The members of an interface, or of a union of texts, as the source spells them. */
function membersOf(file: string, name: string): string[] {
  const path = join(ROOT, file);
  const source = ts.createSourceFile(path, ts.sys.readFile(path) ?? '', ts.ScriptTarget.ES2022, true);
  for (const statement of source.statements) {
    if (ts.isInterfaceDeclaration(statement) && statement.name.text === name) {
      return statement.members.map((member) => member.name?.getText(source) ?? '');
    }
    if (ts.isTypeAliasDeclaration(statement) && statement.name.text === name && ts.isUnionTypeNode(statement.type)) {
      return statement.type.types.map((member) => member.getText(source).replaceAll("'", ''));
    }
  }
  throw new Error(`${file} has no ${name}`);
}

describe('docs/policy.md', () => {
  it('docs/policy.md has the tables that scripts/write-policy-page.ts writes', () => {
    const page = pageText('docs/policy.md');
    expect(page).toBe(withTables(page));
  });
});

describe('docs/tools.md', () => {
  const page = 'docs/tools.md';

  it('has every option of defineTool', () => {
    expect(firstColumn(section(page, 'Options'))).toEqual(membersOf('src/define/define-tool.ts', 'ToolDefinition'));
  });

  it('has everything that a tool gets', () => {
    const got = firstColumn(section(page, 'What `run` gets'));
    expect(got).toEqual(membersOf('src/define/define-tool.ts', 'ToolContext'));
  });

  it('has every option that command and HTTP tools have of their own', () => {
    const own = (heading: string): string[] =>
      firstColumn(
        section(page, heading)
          .split('\n\n')
          .find((part) => part.startsWith('| option of its own')) ?? '',
      );
    const command = membersOf('src/define/command/definition.ts', 'CommandOptions');
    expect(own('Command tools')).toEqual([...command, 'argv', 'shell']);
    expect(own('HTTP tools')).toEqual(membersOf('src/define/http/http-tool.ts', 'HttpToolDefinition'));
  });

  it('has every effect', () => {
    expect(firstColumn(section(page, 'Effects'))).toEqual(membersOf('src/protocol/tools.ts', 'ToolEffect'));
  });

  it('has every category with its retries, waits and who can mend it', () => {
    const strategies = FAILURE_CATEGORIES.map((category) => {
      const { backoff, fixed_by } = strategyOf(category);
      return [category, String(retryLimit(category, DEFAULT_POLICY.retry)), backoff, fixed_by];
    });
    expect(tableRows(section(page, 'When it fails')).map((row) => row.map(bare))).toEqual(strategies);
  });
});

describe('docs/run.md', () => {
  const page = 'docs/run.md';
  const run = 'src/protocol/run.ts';

  it.each([
    ['The request', Object.keys(runRequestSchema.shape)],
    ['Outcomes', membersOf(run, 'RunOutcome')],
    ['States', membersOf(run, 'RunLifeState')],
    ['Questions', [...DECISIONS]],
    ['What a question shows', membersOf('src/protocol/questions.ts', 'PendingQuestion')],
    ['What people can send', Object.values(MESSAGE)],
    ['The limit', membersOf(run, 'Bound')],
  ])('%s: complete', (heading, names) => {
    expect(firstColumn(section(page, heading)).sort()).toEqual([...names].sort());
  });
});

describe('docs/temporal.md', () => {
  const page = 'docs/temporal.md';

  it('names the workflow, its queue, its activities and its queries', () => {
    const names = [WORKFLOW_TYPE.agentRun, TASK_QUEUE, ...Object.values(ACTIVITY)];
    for (const name of names) expect(pageText(page)).toContain(`\`${name}\``);
    expect(firstColumn(section(page, 'Ask')).sort()).toEqual(Object.values(QUERY).sort());
  });

  it('has every search attribute with its type, and what the memo holds', () => {
    const rows = tableRows(section(page, 'Find')).map((row) => row.map(bare));
    const attributes = rows.flatMap(([name = '', type = '', holds]) => (holds === undefined ? [] : [[name, type]]));
    expect(Object.fromEntries(attributes)).toEqual(SEARCH_ATTRIBUTE_TYPES);
    const memo = rows.flatMap(([name = '', , third]) => (third === undefined ? [name] : []));
    expect(memo.sort()).toEqual(Object.values(MEMO).sort());
  });

  it('shows bodies that a run takes', () => {
    const bodies = blocks(page, 'json').map((text): unknown => JSON.parse(text));
    const names = [...pageText(page).matchAll(/^### `(?<name>\w+)`$/gm)].map((match) => match.groups?.['name'] ?? '');
    expect([...names].sort()).toEqual(Object.values(MESSAGE).sort());
    const state = openRun(prepared({ agent: 'plain', goal: 'g', plan: ONE_STEP }, plainRegistry), 0);
    const refused = names.filter((name, index) => !receive(state, name as RunMessage['type'], bodies[index]).ok);
    expect(refused).toEqual([]);
  });

  it('has commands whose inputs are JSON', () => {
    const inputs = blocks(page, 'sh').flatMap((text) => [...text.matchAll(/--input '(?<json>[^']*)'/g)]);
    expect(inputs.length).toBeGreaterThan(4);
    for (const input of inputs) expect(() => JSON.parse(input.groups?.['json'] ?? '') as unknown).not.toThrow();
  });
});

describe('docs/http.md', () => {
  const page = 'docs/http.md';

  it('has every route with the role it needs, and no other', () => {
    const documented = tableRows(section(page, 'Routes')).map((row) => row.slice(0, 2).map(bare).join(': '));
    const routes = ROUTES.map(({ method, path, role }) => `${method.toUpperCase()} ${path}: ${role ?? 'none'}`);
    expect(documented.sort()).toEqual(routes.sort());
  });

  it('has every status of a problem', () => {
    const statuses = new Set(PROBLEM_CODES.map((code) => String(problemStatus(code))));
    expect(firstColumn(section(page, 'Errors')).sort()).toEqual([...statuses].sort());
  });

  it('has every route that honours a key', () => {
    const keyed = ROUTES.filter(({ headers }) => headers?.some(({ name }) => name === 'Idempotency-Key'));
    const once = section(page, 'Idempotency');
    expect(once.match(/`POST [^`]+`/g)).toHaveLength(keyed.length);
    for (const { path } of keyed) expect(once).toContain(`\`POST ${path}\``);
  });
});

interface Room {
  holds: string;
  rooms: string[];
  packages: string[];
}

describe('docs/architecture.md', () => {
  const rooms = Object.entries(JSON.parse(readFileSync(join(ROOT, 'rooms.json'), 'utf8')) as Record<string, Room>);
  const cell = (text: string): string[] =>
    text === '–' ? [] : text.split(', ').map((name) => name.replaceAll('`', ''));

  it('docs/architecture.md shows the table of rooms that the check uses', () => {
    const rows = tableRows(section('docs/architecture.md', 'Rooms')).map(
      ([room = '', holds = '', may = '', uses = '']) => ({
        room,
        holds,
        rooms: cell(may),
        packages: cell(uses.replace('Node', 'node')),
      }),
    );
    expect(rows).toEqual(rooms.map(([room, listed]) => ({ room: `\`src/${room}/\``, ...listed })));
  });

  it('docs/architecture.md has every port of the story', () => {
    const ports = membersOf('src/core/run/ports.ts', 'RunPorts');
    expect(firstColumn(section('docs/architecture.md', 'Ports'))).toEqual(ports);
  });

  it('docs/architecture.md shows caps as they are in the code', () => {
    const rows = tableRows(section('docs/architecture.md', 'Caps'));
    expect(rows.length).toBeGreaterThan(5);
    for (const [, name = '', value = ''] of rows) {
      expect([name, CAP[bare(name) as keyof typeof CAP]]).toEqual([name, Number.parseInt(value, 10)]);
    }
  });

  it('rooms.json lists every folder of src, and each room imports only rooms above it', () => {
    const folders = readdirSync(join(ROOT, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(rooms.map(([room]) => room).sort()).toEqual(folders.map((entry) => entry.name).sort());
    for (const [index, [, listed]] of rooms.entries()) {
      expect(rooms.slice(0, index).map(([room]) => room)).toEqual(expect.arrayContaining(listed.rooms));
    }
  });
});

const ONE_STEP = { steps: [{ phase: 'work', tool: 'look', input: {} }] };
