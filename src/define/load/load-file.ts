import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isRecord } from '../../protocol/json.ts';
import { within } from '../../protocol/within.ts';
import { AgentsFolderError, firstLineOf } from './agents-folder-error.ts';

/** Imports a file of agents and returns its exports, with promises awaited. Errors name the place in the file. */
export async function loadFile(path: string, file: string, deadlineMs: number): Promise<[string, unknown][]> {
  const href = pathToFileURL(resolve(path)).href;
  try {
    return await within(
      deadlineMs,
      async () => {
        const exported = listExports((await import(href)) as Record<string, unknown>);
        return Promise.all(exported.map(async ([name, value]): Promise<[string, unknown]> => [name, await value]));
      },
      () => {
        const what = `${file} is still loading after ${deadlineMs / 1000} s: an await in it, or in a file that it imports, does not end.`;
        throw new AgentsFolderError(what, 'Correct the file, or move slow work into a tool, and start again.');
      },
    );
  } catch (error) {
    if (error instanceof AgentsFolderError) throw error;
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ERR_UNKNOWN_FILE_EXTENSION') {
      const next =
        'Install tsx beside your agents (npm install tsx), use Node 22.18 or later, or compile them and name the folder of .js files.';
      throw new AgentsFolderError(`This Node cannot read TypeScript: ${file}.`, next, error);
    }
    const { what, frame } = await describeError(error, resolve(path));
    throw new AgentsFolderError(
      `${file} cannot be loaded: ${what}${frame === '' ? '' : `\n\n${frame}\n`}`,
      'Correct the file and start again.',
      error,
    );
  }
}

/** In a file that was compiled to CommonJS, all exports are properties of the default export. */
function listExports(module: Record<string, unknown>): [string, unknown][] {
  const { default: inner } = module;
  return Object.entries(isRecord(inner) && inner['__esModule'] === true ? inner : module);
}

interface ErrorDescription {
  what: string;
  /** The place of the error with the lines around it; empty if the place is unknown. */
  frame: string;
}

async function describeError(error: unknown, path: string): Promise<ErrorDescription> {
  const compiled = COMPILED.exec(messageOf(error))?.groups;
  if (compiled !== undefined) {
    const { file = '', line, column, what = '' } = compiled;
    return { what, frame: await codeFrame(file, Number(line), Number(column) + 1) };
  }
  const what = firstLineOf(error);
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  // If an import names something that a module does not export, Node puts the lines before the name of the error.
  const [linked] = stack.split('SyntaxError: ');
  if (linked !== undefined && linked.startsWith('file:')) return { what, frame: linked.trimEnd() };
  if (error instanceof SyntaxError) return { what, frame: await checkWithNode(path) };
  const thrown = findThrowPlace(stack, path);
  return { what, frame: thrown === null ? '' : await codeFrame(path, thrown.line, thrown.column) };
}

/** The error message of tsx: file, line, column (counted from 0) and text. */
const COMPILED = /^(?<file>\S.*?):(?<line>\d+):(?<column>\d+): (?:ERROR|error): (?<what>.+)$/m;

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function findThrowPlace(stack: string, path: string): { line: number; column: number } | null {
  for (const [, place = '', line, column] of stack.matchAll(/(file:\/\/[^\s()]+|\/[^\s()]+):(\d+):(\d+)/g)) {
    const file = place.startsWith('file:') && URL.canParse(place) ? fileURLToPath(place.split('?')[0] ?? '') : place;
    if (file === path) return { line: Number(line), column: Number(column) };
  }
  return null;
}

const AROUND = 2;

async function codeFrame(path: string, line: number, column: number): Promise<string> {
  const source = await readFile(path, 'utf8').catch(() => null);
  const place = `${path}:${line}:${column}`;
  if (source === null) return place;
  const first = Math.max(1, line - AROUND);
  const shown = source.split('\n').slice(first - 1, line + AROUND - 1);
  const width = String(line + AROUND).length;
  const rows = shown.flatMap((text, index) => {
    const number = first + index;
    const row = `${number === line ? '>' : ' '} ${String(number).padStart(width)} | ${text.slice(0, 160)}`;
    return number === line ? [row, `  ${' '.repeat(width)} | ${' '.repeat(Math.min(column, 160) - 1)}^`] : [row];
  });
  return [place, ...rows].join('\n');
}

const CHECK_MS = 10_000;

/** A SyntaxError does not say where it is, so Node checks the file once more on its own. */
function checkWithNode(path: string): Promise<string> {
  return new Promise((done) => {
    execFile(process.execPath, ['--check', path], { timeout: CHECK_MS }, (_error, _stdout, stderr) => {
      done(stderr.includes(path) ? (stderr.split('\n\n')[0] ?? '').slice(0, 1_000) : '');
    });
  });
}
