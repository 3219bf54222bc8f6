import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';
import { vi } from 'vitest';

const core = resolve(import.meta.dirname, '../../../../src/core');

export type Found = { where: string; source: string; flags: string };

function literalsOf(path: string, where: string): Found[] {
  const file = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.ES2022, true);
  const found: Found[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/');
      const line = file.getLineAndCharacterOfPosition(node.getStart()).line + 1;
      found.push({ where: `${where}:${line}`, source: node.text.slice(1, end), flags: node.text.slice(end + 1) });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** Loads a file and notes which expressions it builds from strings while it loads. */
async function builtBy(path: string, where: string): Promise<Found[]> {
  const Real = globalThis.RegExp;
  const found: Found[] = [];
  globalThis.RegExp = new Proxy(Real, {
    construct(target, given, newTarget) {
      const regex = Reflect.construct(target, given, newTarget) as RegExp;
      found.push({ where, source: regex.source, flags: regex.flags });
      return regex;
    },
  });
  try {
    await import(path);
  } finally {
    globalThis.RegExp = Real;
  }
  return found;
}

/** Every regular expression of the core: the literals of its sources and those built when it is loaded. */
export async function allRegexes(): Promise<Found[]> {
  // Another test file of this process may have loaded them, and a file builds its expressions only once.
  vi.resetModules();
  const files = readdirSync(core, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const found: Found[] = [];
  for (const name of files.sort()) {
    const path = join(core, name);
    found.push(...literalsOf(path, name), ...(await builtBy(path, `${name} (built)`)));
  }
  return found;
}
