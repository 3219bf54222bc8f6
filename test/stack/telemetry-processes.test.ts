/** Telemetry and logs of the command line's processes, each a real one, on a namespace of this file's own. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { type CollectedSpan, openCollector } from '../support/collector.ts';
import { eventually } from '../support/eventually.ts';
import { temporaryFolder } from '../support/own-stack.ts';
import { createTestDatabase, idPrefix } from '../support/stack.ts';
import { tracedBundle } from '../support/traced-world.ts';
import { type Command, runCommand, startCommand } from './cli-process.ts';

const namespace = `${idPrefix}-telemetry`;

// All these processes share one task queue by its name: only a namespace keeps other files' workers away.
beforeAll(async () => {
  const connection = await Connection.connect({ address: inject('temporalAddress') });
  const workflowExecutionRetentionPeriod = msToTs('3 days');
  await connection.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
  const isThere = () =>
    connection.workflowService.describeNamespace({ namespace }).then(
      () => true,
      () => false,
    );
  await eventually(isThere, (there) => there, { timeoutMs: 30_000 });
  await connection.close();
  // The bundle that the workers below take: made before, because on a busy machine it takes longer than their start.
  await tracedBundle();
}, 180_000);

const settings = async (): Promise<NodeJS.ProcessEnv> => ({
  TEMPORAL_ADDRESS: inject('temporalAddress'),
  TEMPORAL_NAMESPACE: namespace,
  DATABASE_URL: (await createTestDatabase()).databaseUrl,
  SECONDWIND_DATA_DIR: temporaryFolder('traced'),
  SECONDWIND_TOKEN: 'traced-token',
});

interface Started {
  worker: Command;
  api: Command;
  url: string;
}
async function startBoth(env: NodeJS.ProcessEnv): Promise<Started> {
  const worker = startCommand(['worker'], env);
  const api = startCommand(['api', '--port', '0'], env);
  await worker.line(/^ready worker/);
  return { worker, api, url: (await api.line(/^ready (http:\S+)$/))[1] ?? '' };
}
async function stopBoth({ worker, api }: Started): Promise<void> {
  for (const command of [api, worker]) {
    command.signal('SIGTERM');
    expect(await command.exited).toBe(0);
  }
}
const logLines = (command: Command): Record<string, unknown>[] =>
  command
    .stderr()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** Writes past everything what Node loads: the loader's hook runs on a thread of its own. */
const noting = (file: string): string => {
  const hook = `import { appendFileSync } from 'node:fs';
    export async function load(url, context, next) { appendFileSync(${JSON.stringify(file)}, url + '\\n'); return next(url, context); }`;
  const hookUrl = `data:text/javascript,${encodeURIComponent(hook)}`;
  const register = `import { register } from 'node:module'; register(${JSON.stringify(hookUrl)});`;
  return `--import=data:text/javascript,${encodeURIComponent(register)}`;
};
const loadedIn = (file: string): string[] => readFileSync(file, 'utf8').split('\n');
const OPEN_TELEMETRY = '/node_modules/@opentelemetry/';

describe.skipIf(process.platform !== 'linux')('processes with telemetry', () => {
  it('make one trace of a run together, and log JSON that names its spans', { timeout: 180_000 }, async () => {
    const collector = await openCollector();
    onTestFinished(() => collector.close());
    const env = {
      ...(await settings()),
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-api-key=collector-key',
      OTEL_SERVICE_NAME: 'warehouse',
    };
    const both = await startBoth(env);
    const run = await runCommand(['run', 'demo', 'count the boxes', '--url', both.url, '--json'], env);
    expect(run).toMatchObject({ code: 0, stderr: '' });
    await stopBoth(both);

    const spans = collector.spans();
    expect(new Set(spans.map((span) => span.traceId)).size).toBe(1);
    expect(new Set(spans.map((span) => span.service))).toEqual(new Set(['warehouse']));
    expect(new Set(collector.requests().map(({ headers }) => headers['x-api-key']))).toEqual(
      new Set(['collector-key']),
    );
    const pathOf = (span: CollectedSpan): string => {
      const parent = spans.find(({ spanId }) => spanId === span.parentSpanId);
      return parent === undefined ? span.name : `${pathOf(parent)} > ${span.name}`;
    };
    const attempts = spans.filter(({ name }) => name === 'execute_tool demo.flaky');
    const path = 'secondwind run > invoke_agent demo > invoke_agent demo > execute_tool demo.flaky';
    expect(attempts.map(pathOf)).toEqual([path, path]);
    expect(attempts.map((span) => span.attributes['secondwind.attempt'])).toEqual([1, 2]);
    expect(collector.received()).not.toContain('count the boxes');

    const logged = logLines(both.worker);
    const ofFailed = logged.filter((line) => line['span_id'] === attempts[0]?.spanId);
    expect(ofFailed.map((line) => line['trace_id'])).toEqual(ofFailed.map(() => attempts[0]?.traceId));
    expect(ofFailed.length).toBeGreaterThan(0);
    expect(logLines(both.api).length).toBeGreaterThan(0);
  });

  it('send protobuf unless told otherwise, and end in time where nobody answers', { timeout: 180_000 }, async () => {
    const collector = await openCollector({ hangs: true });
    onTestFinished(() => collector.close());
    const base = await settings();
    const file = join(base['SECONDWIND_DATA_DIR'] ?? '', 'loaded');
    const env = { ...base, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, NODE_OPTIONS: noting(file) };
    const both = await startBoth(env);
    const run = await runCommand(['run', 'demo', 'count the boxes', '--url', both.url], env);
    expect(run).toMatchObject({ code: 0, stderr: expect.stringContaining('Telemetry: Spans cannot be delivered.') });
    const began = performance.now();
    await stopBoth(both);
    // Each has 2 s for it; the exporter by itself would try for ten, and they end one after the other.
    expect(performance.now() - began).toBeLessThan(18_000);
    const warned = logLines(both.worker).filter((line) => line['event'] === 'telemetry_not_delivered');
    expect(warned).toHaveLength(1);
    const [first] = collector.requests();
    expect(first).toMatchObject({ path: '/v1/traces', headers: { 'content-type': 'application/x-protobuf' } });
    expect(collector.received()).toContain('gen_ai.operation.name');
    // So that the test below can fail.
    expect(loadedIn(file).some((url) => url.includes(OPEN_TELEMETRY))).toBe(true);
  });
});

describe.skipIf(process.platform !== 'linux')('processes without an endpoint', () => {
  it('load nothing of OpenTelemetry, and log JSON all the same', { timeout: 180_000 }, async () => {
    const base = await settings();
    const file = join(base['SECONDWIND_DATA_DIR'] ?? '', 'loaded');
    const env = { ...base, NODE_OPTIONS: noting(file) };
    const both = await startBoth(env);
    const run = await runCommand(['run', 'demo', 'g', '--url', both.url], env);
    expect(run.code).toBe(0);
    await stopBoth(both);
    expect(loadedIn(file).some((url) => url.includes('/@temporalio/'))).toBe(true);
    expect(loadedIn(file).filter((url) => url.includes(OPEN_TELEMETRY))).toEqual([]);
    const lines = logLines(both.worker);
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.filter((line) => 'trace_id' in line)).toEqual([]);
  });
});
