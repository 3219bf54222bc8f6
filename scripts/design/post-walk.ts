/**
 * Counts the source files that one `POST /v1/runs` passes between the arrival of the request and the call that starts
 * the workflow. It serves the API in this process with a stack of its own, sends one request to warm up, and reads V8's
 * precise coverage of the second one. A file counts if at least one of its functions ran.
 *
 *     npx tsx scripts/design/post-walk.ts [--root <dir>]
 *
 * Prints `{"files": n, "list": [...]}`. `--root` names another checkout of this repository, with its dependencies
 * installed.
 */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { type Profiler, Session } from 'node:inspector';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import type * as EncryptionModule from '../../src/encryption/encryption.ts';
import type * as ServeModule from '../../src/api/serve.ts';
import type * as OpenApiModule from '../../src/cli/serve/open-api.ts';
import type * as PartsModule from '../../src/cli/serve/parts.ts';
import type * as RegistryModule from '../../src/cli/serve/built-in-agents.ts';
import type * as NamesModule from '../../src/protocol/names.ts';
import type * as StackModule from '../../src/stack/start-stack.ts';
import type * as MigrateModule from '../../src/store/migrate.ts';
import type * as StoreModule from '../../src/store/store.ts';

const { values } = parseArgs({ options: { root: { type: 'string' } } });
const root = resolve(values.root ?? fileURLToPath(new URL('../..', import.meta.url)));
const sources = pathToFileURL(join(root, 'src/')).href;
/** Loads the first of these files that the checkout has: an older one keeps some of them under another name. */
const load = async <T>(...paths: string[]): Promise<T> => {
  const found = paths.find((path) => existsSync(join(root, 'src', path)));
  if (found === undefined) throw new Error(`${root} has none of ${paths.join(', ')}`);
  return (await import(`${sources}${found}`)) as T;
};

const session = new Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

/** Files with a function that ran since the last call. The session answers before `post` returns. */
function passedFiles(): string[] {
  let scripts: Profiler.ScriptCoverage[] = [];
  session.post('Profiler.takePreciseCoverage', (_error, { result }) => {
    scripts = result;
  });
  const passed = scripts.filter(
    ({ url, functions }) => url.startsWith(sources) && functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0),
  );
  return [...new Set(passed.map(({ url }) => `src/${url.slice(sources.length).replace(/\?.*$/, '')}`))].sort();
}

/** Calls `before` each time a workflow is started. */
function beforeWorkflowStart(before: () => void): void {
  const { WorkflowClient } = createRequire(join(root, 'package.json'))('@temporalio/client') as {
    WorkflowClient: { prototype: Record<'start', (...args: unknown[]) => Promise<unknown>> };
  };
  const { start } = WorkflowClient.prototype;
  WorkflowClient.prototype.start = function (...args) {
    before();
    return start.apply(this, args);
  };
}

const dataDir = await mkdtemp(join(tmpdir(), 'secondwind-post-walk-'));
const ends: (() => Promise<unknown>)[] = [() => rm(dataDir, { recursive: true, force: true })];
try {
  const { startStack } = await load<typeof StackModule>('stack/start-stack.ts', 'stack/index.ts');
  const { SEARCH_ATTRIBUTE_TYPES } = await load<typeof NamesModule>('protocol/names.ts');
  const { migrateToLatest } = await load<typeof MigrateModule>('store/migrate.ts');
  const { createStore } = await load<typeof StoreModule>('store/store.ts');
  const { builtInRegistry } = await load<typeof RegistryModule>(
    'cli/serve/built-in-agents.ts',
    'cli/serve/registry.ts',
    'cli/run/registry.ts',
  );
  const { Parts } = await load<typeof PartsModule>('cli/serve/parts.ts', 'cli/run/parts.ts');
  const { openApi } = await load<typeof OpenApiModule>('cli/serve/open-api.ts', 'cli/run/open-api.ts');
  const { createEncryption } = await load<typeof EncryptionModule>('encryption/encryption.ts');
  const { serveApi } = await load<typeof ServeModule>('api/serve.ts');

  const stack = await startStack({ dataDir, searchAttributes: SEARCH_ATTRIBUTE_TYPES });
  ends.push(() => stack.stop());
  await migrateToLatest(stack.databaseUrl);
  const store = createStore(stack.databaseUrl);
  ends.push(() => store.close());
  const parts = new Parts(console.error);
  ends.push(() => parts.stop(new AbortController().signal));
  const token = 'the-token-of-the-walk';
  const app = await openApi(parts, {
    ...stack,
    registry: builtInRegistry,
    store,
    grants: [{ role: 'operator', token }],
    allowedHosts: [],
    rateLimit: 100,
    reviewer: undefined,
    log: { error: (fields, message) => console.error(message, fields) },
    env: {},
    encryption: createEncryption([]),
    codecOrigins: [],
  });
  const served = await serveApi(app, { host: '127.0.0.1', port: 0 });
  ends.push(() => served.close());

  let walk: string[] = [];
  beforeWorkflowStart(() => (walk = passedFiles()));
  for (const key of ['first', 'second']) {
    passedFiles();
    const response = await fetch(`${served.url}/v1/runs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': key },
      body: JSON.stringify({ agent: 'demo', goal: 'walk' }),
    });
    if (response.status !== 201) throw new Error(`The API answered ${response.status}: ${await response.text()}`);
    await response.body?.cancel();
  }
  process.stdout.write(`${JSON.stringify({ files: walk.length, list: walk }, null, 2)}\n`);
} finally {
  for (const end of ends.reverse()) await end();
}
