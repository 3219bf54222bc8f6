/** Every `ts` snippet of the documentation, compiled against the sources. Needs no stack, and runs nothing. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { blocks, PAGES, ROOT } from './markdown.ts';

const ENTRIES = {
  secondwind: ['src/index.ts'],
  'secondwind/guard': ['src/guard.ts'],
  'secondwind/server': ['src/server.ts'],
  'secondwind/testing': ['src/testing.ts'],
  'secondwind/workflow': ['src/workflow.ts'],
};

/** Where a snippet would stand if it were a file of the project, so that packages and settings are the project's own. */
const snippets = new Map(
  PAGES.flatMap((page) =>
    blocks(page, 'ts').map((code, index): [string, string] => [
      join(ROOT, 'test', `${page.replaceAll(/[/.]/g, '-')}-${index + 1}.ts`),
      code,
    ]),
  ),
);

function compile(): Map<string, string[]> {
  const configFile = join(ROOT, 'tsconfig.json');
  const config = ts.parseJsonConfigFileContent(
    ts.readConfigFile(configFile, (path) => ts.sys.readFile(path)).config,
    ts.sys,
    dirname(configFile),
  );
  const options: ts.CompilerOptions = {
    ...config.options,
    paths: Object.fromEntries(Object.entries(ENTRIES).map(([name, files]) => [name, files.map((file) => ROOT + file)])),
    noUnusedLocals: false,
  };
  const files = ts.createCompilerHost(options);
  const host: ts.CompilerHost = {
    ...files,
    fileExists: (path) => snippets.has(path) || files.fileExists(path),
    readFile: (path) => snippets.get(path) ?? files.readFile(path),
    getSourceFile: (path, target, ...rest) => {
      const code = snippets.get(path);
      if (code === undefined) return files.getSourceFile(path, target, ...rest);
      return ts.createSourceFile(path, code, target, true);
    },
  };
  const program = ts.createProgram([...snippets.keys()], options, host);
  return new Map(
    [...snippets.keys()].map((path) => {
      const file = program.getSourceFile(path);
      const found = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
      return [path, found.map((diagnostic) => ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n'))];
    }),
  );
}

describe('the snippets of the documentation', () => {
  it('compile', { timeout: 120_000 }, () => {
    expect(snippets.size).toBeGreaterThan(4);
    const problems = [...compile()].filter(([, found]) => found.length > 0);
    expect(problems).toEqual([]);
  });
});

describe('the example of the README', () => {
  it('has 30 lines at most and is the file in examples', () => {
    const [example = ''] = blocks('README.md', 'ts');
    expect(example.trimEnd().split('\n').length).toBeLessThanOrEqual(30);
    expect(readFileSync(join(ROOT, 'examples', 'minimal.ts'), 'utf8')).toBe(example);
  });
});
