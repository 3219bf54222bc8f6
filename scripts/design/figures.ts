/**
 * Figures about the design of the source, to compare one design with another: `npx tsx scripts/design/figures.ts
 * [--root <another clone>] [--json]`. Everything is read from the source or measured by running it.
 * docs/design-figures.md has the table of the redesign before the first release.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import ts from 'typescript';
import { placesOfOneFailure } from './places-of-a-failure.ts';

const { values: flags } = parseArgs({
  options: { root: { type: 'string' }, json: { type: 'boolean', default: false } },
});
const root = flags.root ?? fileURLToPath(new URL('../..', import.meta.url));

const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => normalize(join('src', name)));
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');
const parsed = (file: string): ts.SourceFile => ts.createSourceFile(file, textOf(file), ts.ScriptTarget.Latest, true);
const roomOf = (file: string): string => file.split('/')[1] ?? '';
const inRooms = files.filter((file) => file.split('/').length > 2);

function isBarrel(file: string): boolean {
  const { statements } = parsed(file);
  const isReexport = (node: ts.Statement): boolean =>
    ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined;
  return statements.length > 0 && statements.every(isReexport);
}

/** Which room imports which, types included. */
function roomGraph(): Map<string, Set<string>> {
  const graph = new Map<string, Set<string>>(inRooms.map((file) => [roomOf(file), new Set()]));
  for (const file of inRooms) {
    for (const { fileName } of ts.preProcessFile(textOf(file), true, true).importedFiles) {
      const target = fileName.startsWith('.') ? roomOf(relative('.', join(dirname(file), fileName))) : null;
      if (target !== null && target !== roomOf(file) && graph.has(target)) graph.get(roomOf(file))?.add(target);
    }
  }
  return graph;
}

/** Pairs of rooms that can reach each other. */
function roomCycles(): number {
  const graph = roomGraph();
  const reach = (from: string, seen = new Set<string>()): Set<string> => {
    for (const next of graph.get(from) ?? []) if (!seen.has(next)) reach(next, seen.add(next));
    return seen;
  };
  const reachable = new Map([...graph.keys()].map((room) => [room, reach(room)]));
  const rooms = [...graph.keys()].sort();
  const pairs = rooms.flatMap((one, index) => rooms.slice(index + 1).map((other) => [one, other] as const));
  return pairs.filter(([one, other]) => reachable.get(one)?.has(other) && reachable.get(other)?.has(one)).length;
}

/** Counts the members of an interface of the run's state. The first of these names that exists is used. */
function fieldsOf(...names: string[]): number {
  for (const file of files.filter((name) => name.startsWith('src/core/run/'))) {
    const found = parsed(file).statements.find(
      (node): node is ts.InterfaceDeclaration => ts.isInterfaceDeclaration(node) && names.includes(node.name.text),
    );
    if (found !== undefined) return found.members.length;
  }
  throw new Error(`there is no interface ${names.join(' or ')}`);
}

function mostParameters(): number {
  let most = 0;
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) {
      most = Math.max(most, node.parameters.length);
    }
    ts.forEachChild(node, visit);
  };
  for (const file of files.filter((name) => name.startsWith('src/core/run/'))) visit(parsed(file));
  return most;
}

/**
 * Files that define what an override may look like, by a schema or by a table entry for `override_by`. The type of an
 * answer (with `spent_by`) and a command's own flag are not rules about input.
 */
const overrideValidators = (): string[] =>
  files.filter((file) => {
    const rules = [...textOf(file).matchAll(/\boverride_by['"]?\??: (?:z\.|\w+\(|'name'|\{)(?<rest>[^]{0,400})/g)];
    return !file.startsWith('src/cli/') && rules.some(({ groups }) => !(groups?.['rest'] ?? '').includes('spent_by'));
  });

const figures = {
  source_lines: files.reduce((sum, file) => sum + textOf(file).split('\n').length - 1, 0),
  source_files: files.length,
  rooms: new Set(inRooms.map(roomOf)).size,
  room_cycles: roomCycles(),
  barrels: files.filter((file) => file.split('/').length > 2 && isBarrel(file)).length,
  step_fields: fieldsOf('StepInFlight', 'Step'),
  run_state_fields: fieldsOf('RunState'),
  failure_places: (await placesOfOneFailure(root)).length,
  override_validators: overrideValidators().length,
  most_parameters: mostParameters(),
};

if (flags.json) console.log(JSON.stringify(figures));
else {
  for (const [name, value] of Object.entries(figures)) console.log(`${name.padEnd(22)} ${value}`);
  console.log('\na failure is copied to:', (await placesOfOneFailure(root)).join(', '));
  console.log('overrides are checked in:', overrideValidators().join(', '));
  if (!existsSync(join(root, 'rooms.json'))) console.log('this clone has no rooms.json');
}
