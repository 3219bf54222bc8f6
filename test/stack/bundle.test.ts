/**
 * What is inside the workflow bundle, read from its source map. Needs the bundle that the global setup made, no server.
 * Does not prove determinism: that is the lint's part, and the replays'.
 */
import { readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { beforeAll, describe, expect, it } from 'vitest';
import { workflowBundlePath } from '../support/stack.ts';

/** Measured 1,070 KB of code with the SDK's own 700 KB; parsed once for each worker. zod alone would add 361 KB. */
const CODE_LIMIT_BYTES = 1_500_000;

let code = '';
let sources: string[] = [];
beforeAll(() => {
  const whole = readFileSync(workflowBundlePath(), 'utf8');
  const at = whole.lastIndexOf('//# sourceMappingURL=');
  code = whole.slice(0, at);
  const encoded = whole.slice(at).split('base64,')[1] ?? '';
  const map = JSON.parse(Buffer.from(encoded, 'base64').toString()) as { sources: string[] };
  // A kept bundle may have been made from the same sources in another folder.
  const story = map.sources.find((source) => source.endsWith('/src/workflows/index.js')) ?? '';
  const root = story.slice(0, -'src/workflows/index.js'.length);
  // Told by the names of the sources that the programs were built from.
  sources = map.sources.map((source) => source.replace(root, '').replace(/^(src\/.*)\.js$/, '$1.ts'));
});

const packageOf = (source: string): string | null =>
  /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/.exec(source)?.[1] ?? null;

describe('the workflow bundle', () => {
  it('holds the story, so that what follows says something about it', () => {
    expect(sources).toContain('src/workflows/agent-run.ts');
    expect(sources).toContain('src/core/run/run-agent.ts');
  });

  it('holds no package but the workflow SDK and hashing', () => {
    const packages = new Set(sources.map(packageOf).filter((name) => name !== null));
    expect([...packages].sort()).toEqual([
      '@noble/hashes',
      '@temporalio/common',
      '@temporalio/workflow',
      'long',
      'ms',
      'nexus-rpc',
    ]);
  });

  it('holds no room of ours but workflows, core and protocol, and of protocol no schema', () => {
    const ours = sources.filter((source) => source.startsWith('src/'));
    const rooms = new Set(ours.map((source) => source.split('/')[1] ?? ''));
    expect([...rooms].sort()).toEqual(['core', 'protocol', 'workflows']);
    expect(ours.filter((source) => source.startsWith('src/protocol/schemas/'))).toEqual([]);
  });

  it('asks Node for nothing', () => {
    const asked = [...code.matchAll(/\brequire\(\\?["']([^"'\\]+)\\?["']\)/g)].map((match) => match[1] ?? '');
    expect(asked.filter((name) => name.startsWith('node:') || builtinModules.includes(name))).toEqual([]);
    const external = [...code.matchAll(/module\.exports = require\([^)]*\)/g)].map(String);
    expect(external).toEqual([]);
    const imported = [...code.matchAll(/\bimport\(\\?["'](node:[^"'\\]+)\\?["']\)/g)].map((match) => match[1]);
    expect(imported).toEqual([]);
  });

  it('stays small', () => {
    const bytes = Buffer.byteLength(code);
    console.log(`workflow bundle: ${Math.round(bytes / 1000)} KB of code from ${sources.length} modules`);
    expect(bytes).toBeLessThan(CODE_LIMIT_BYTES);
  });
});
