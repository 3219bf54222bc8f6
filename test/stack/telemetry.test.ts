/**
 * Spans of real runs through a real worker, as a collector behind a real socket receives them. What a vendor's backend
 * makes of them is not shown here.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { Worker } from '@temporalio/worker';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../src/define/define-agent.ts';
import { defineTool } from '../../src/define/define-tool.ts';
import { ToolError } from '../../src/define/tool-error.ts';
import { workflowIdOfRun } from '../../src/protocol/ids.ts';
import { WORKFLOW_TYPE } from '../../src/protocol/names.ts';
import { scriptedModel, serveScriptedModel } from '../../src/testing.ts';
import { createDataConverter } from '../../src/client/data-converter.ts';
import { type CollectedSpan, type Collector, openCollector } from '../support/collector.ts';
import { idPrefix, workflowBundlePath } from '../support/stack.ts';
import { openTracedWorld, tracedBundle } from '../support/traced-world.ts';

// Made here once: on a busy machine it takes longer than a test may.
beforeAll(async () => void (await tracedBundle()), 180_000);

const SECRET = 'correct-horse-battery-9931';
const quick = { retry: { base_ms: 1 } };

/** Fails its first attempt, with the words that must not be told. */
const weigh = defineTool({
  name: 'weigh',
  effect: 'read',
  input: z.object({ what: z.string() }),
  output: z.object({ note: z.string() }),
  run: ({ what }, { attempt }) => {
    if (attempt === 1) throw new ToolError(`no scales for ${what}`, { category: 'server_error', code: 'NO_SCALES' });
    return { note: `a heavy ${what.slice(0, 6)} of ${SECRET}` };
  },
});
const plan = { steps: [{ phase: 'work', tool: 'weigh', input: { what: 'walrus' } }] };
const weigher = defineAgent({ name: 'weigher', tools: [weigh], plan });

async function collector(options?: Parameters<typeof openCollector>[0]): Promise<Collector> {
  const opened = await openCollector(options);
  onTestFinished(() => opened.close());
  return opened;
}
const named = (spans: CollectedSpan[], name: string): CollectedSpan[] => spans.filter((span) => span.name === name);
function only(spans: CollectedSpan[]): CollectedSpan {
  const [span, ...others] = spans;
  if (span === undefined || others.length > 0) throw new Error(`${spans.length} spans instead of one`);
  return span;
}

/** A run of an agent with a scripted model behind a real socket. */
async function thinkWith(env: NodeJS.ProcessEnv) {
  const server = await serveScriptedModel(
    scriptedModel([{ calls: [{ tool: 'weigh', input: { what: 'walrus' } }] }, { text: 'a heavy one' }]),
  );
  onTestFinished(() => server.close());
  const model = { base_url: server.url, api_key: 'k', model: 'scripted-1' };
  const thinker = defineAgent({ name: 'thinker', tools: [weigh], instructions: 'Weigh walruses.', model });
  const got = await collector();
  const world = await openTracedWorld([thinker], { OTEL_EXPORTER_OTLP_ENDPOINT: got.url, ...env });
  const run_id = `${idPrefix}-thinks-${Object.keys(env).length}`;
  await world.runs.start({ agent: 'thinker', goal: 'the walrus', run_id, policy: quick });
  expect(await world.runs.result(run_id)).toMatchObject({ outcome: 'completed' });
  await world.end();
  const spans = got.spans();
  return { got, spans, chats: named(spans, 'chat scripted-1') };
}

describe('the spans of a run', () => {
  it('are one trace from the start over the workflow to every attempt, with no word of what it was about', async () => {
    const got = await collector();
    const world = await openTracedWorld([weigher], { OTEL_EXPORTER_OTLP_ENDPOINT: got.url });
    const run_id = `${idPrefix}-spans`;
    await world.runs.start({ agent: 'weigher', goal: 'the weight of a walrus', run_id, policy: quick });
    expect(await world.runs.result(run_id)).toMatchObject({ outcome: 'completed' });
    await world.end();

    const spans = got.spans();
    expect(new Set(spans.map((span) => span.traceId)).size).toBe(1);
    const start = only(spans.filter(({ kind }) => kind === 3));
    expect(start).toMatchObject({ name: 'invoke_agent weigher', parentSpanId: null, status: 0 });
    const run = only(named(spans, 'invoke_agent weigher').filter((span) => span !== start));
    expect(run).toMatchObject({
      kind: 1,
      parentSpanId: start.spanId,
      status: 0,
      service: 'secondwind',
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': 'weigher',
        'gen_ai.conversation.id': run_id,
        'secondwind.run_id': run_id,
        'secondwind.loop_id': expect.stringContaining('loop_'),
        'secondwind.outcome': 'completed',
      },
    });
    const attempts = named(spans, 'execute_tool weigh');
    expect(attempts.map(({ parentSpanId }) => parentSpanId)).toEqual([run.spanId, run.spanId]);
    const common = {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'weigh',
      'gen_ai.agent.name': 'weigher',
      'secondwind.run_id': run_id,
      'secondwind.step_id': 1,
    };
    expect(attempts).toMatchObject([
      {
        status: 2,
        attributes: {
          ...common,
          'secondwind.attempt': 1,
          'secondwind.outcome': 'failed',
          'secondwind.failure_category': 'server_error',
          'error.type': 'NO_SCALES',
        },
      },
      { status: 0, attributes: { ...common, 'secondwind.attempt': 2, 'secondwind.outcome': 'ok' } },
    ]);

    // The fingerprint is known once the workflow has made the record; the id of the call leads back to the attempt.
    const failures = spans.flatMap((span) => span.events.map((event) => ({ span, event })));
    expect(failures).toHaveLength(1);
    expect(failures[0]?.event).toMatchObject({
      name: 'secondwind.failure',
      attributes: {
        'secondwind.fingerprint': expect.stringMatching(/\w/),
        'gen_ai.tool.call.id': attempts[0]?.attributes['gen_ai.tool.call.id'],
      },
    });
    const fingerprint = failures[0]?.event.attributes['secondwind.fingerprint'];
    expect(failures[0]?.span).toMatchObject({
      parentSpanId: run.spanId,
      attributes: { 'secondwind.fingerprint': fingerprint },
    });
    expect(attempts[1]?.attributes['secondwind.guidance.fingerprints']).toEqual([fingerprint]);

    expect(got.requests().map(({ path }) => path)).toContain('/v1/traces');
    expect(got.received()).not.toMatch(/walrus|scales for|heavy/);
    expect(world.warnings).toEqual([]);
  });

  it('have what was asked and answered where that is switched on, without secrets and not without end', async () => {
    const got = await collector();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: got.url, SECONDWIND_TRACE_CONTENT: '1' };
    const world = await openTracedWorld([weigher], env, [SECRET]);
    const run_id = `${idPrefix}-content`;
    const what = `walrus ${'x'.repeat(12_000)}`;
    const long = { steps: [{ phase: 'work', tool: 'weigh', input: { what } }] };
    await world.runs.start({ agent: 'weigher', goal: `weigh it, ${SECRET}`, run_id, plan: long, policy: quick });
    await world.runs.result(run_id);
    await world.end();

    const [first, second] = named(got.spans(), 'execute_tool weigh');
    expect(first?.attributes['gen_ai.tool.call.arguments']).toMatch(/^\{"what":"walrus x+$/);
    expect(String(first?.attributes['gen_ai.tool.call.arguments'])).toHaveLength(8 * 1024);
    expect(first?.attributes['secondwind.message']).toContain('no scales for walrus');
    expect(second?.attributes['gen_ai.tool.call.result']).toContain('a heavy walrus');
    const start = only(got.spans().filter(({ kind }) => kind === 3));
    expect(start.attributes['gen_ai.input.messages']).toContain('weigh it, ');
    expect(got.received()).not.toContain(SECRET);
  });

  it('tell each question to a model with its tokens, below the turn that asked it', async () => {
    const { got, spans, chats } = await thinkWith({});
    const turns = named(spans, 'plan thinker');
    expect(chats.length).toBeGreaterThan(1);
    expect(chats.map(({ parentSpanId }) => parentSpanId)).toEqual(turns.map(({ spanId }) => spanId));
    expect(chats[0]).toMatchObject({
      kind: 3,
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.request.model': 'scripted-1',
        'gen_ai.usage.input_tokens': expect.any(Number),
        'gen_ai.usage.output_tokens': expect.any(Number),
        'secondwind.outcome': 'ok',
      },
    });
    expect(turns[0]?.attributes).toMatchObject({ 'gen_ai.operation.name': 'plan', 'secondwind.attempt': 1 });
    expect(new Set(spans.map((span) => span.traceId)).size).toBe(1);
    expect(got.received()).not.toMatch(/walrus|heavy/i);
  });

  it('tell what a model was asked and said where that is switched on', async () => {
    const { chats } = await thinkWith({ SECONDWIND_TRACE_CONTENT: '1' });
    expect(chats.at(-1)?.attributes['gen_ai.output.messages']).toContain('a heavy one');
    expect(chats[0]?.attributes['gen_ai.input.messages']).toContain('the walrus');
    expect(chats[0]?.attributes['gen_ai.system_instructions']).toContain('Weigh walruses.');
  });

  it('are one trace even where nobody traced the start, and over a hand-over to a fresh execution', async () => {
    const got = await collector();
    const steps = ['a', 'b', 'c'].map((what) => ({ phase: 'work', tool: 'weigh', input: { what } }));
    const world = await openTracedWorld([weigher], { OTEL_EXPORTER_OTLP_ENDPOINT: got.url });
    const run_id = `${idPrefix}-bare`;
    // As the `temporal` command line does it: no client of ours, no header.
    const { client, taskQueue } = world;
    await client.connection.workflowService.startWorkflowExecution({
      namespace: client.options.namespace,
      workflowId: workflowIdOfRun(run_id),
      workflowType: { name: WORKFLOW_TYPE.agentRun },
      taskQueue: { name: taskQueue },
      requestId: run_id,
      input: {
        payloads: [
          {
            metadata: { encoding: Buffer.from('json/plain') },
            data: Buffer.from(
              JSON.stringify({
                agent: 'weigher',
                goal: 'g',
                plan: { steps },
                policy: quick,
                options: { hand_over_after_events: 8 },
              }),
            ),
          },
        ],
      },
    });
    expect(await world.runs.result(run_id)).toMatchObject({ outcome: 'completed' });
    await world.end();

    const spans = got.spans();
    expect(new Set(spans.map((span) => span.traceId)).size).toBe(1);
    const executions = named(spans, 'invoke_agent weigher');
    expect(executions.length).toBeGreaterThan(1);
    expect(executions.map((span) => span.attributes['secondwind.outcome'])).toEqual([
      ...executions.slice(1).map(() => 'handed_over'),
      'completed',
    ]);
    expect(executions.map(({ parentSpanId }) => parentSpanId)).toEqual(executions.map(() => null));
    const known = new Set(executions.map(({ spanId }) => spanId));
    const others = spans.filter((span) => !executions.includes(span));
    expect(others.length).toBeGreaterThan(5);
    expect(others.every(({ parentSpanId }) => parentSpanId !== null && known.has(parentSpanId))).toBe(true);
  });

  it('are left out where the sampler says so', async () => {
    const got = await collector();
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: got.url,
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0',
    };
    const world = await openTracedWorld([weigher], env);
    const run_id = `${idPrefix}-unsampled`;
    await world.runs.start({ agent: 'weigher', goal: 'g', run_id, policy: quick });
    expect(await world.runs.result(run_id)).toMatchObject({ outcome: 'completed' });
    await world.end();
    expect(got.requests()).toEqual([]);
  });
});

describe('a collector that does not do its work', () => {
  it.each(['hangs', 'is not there'])(
    '%s: the run completes, the end is bounded, and one warning says so',
    async (how) => {
      const got = await collector({ hangs: true });
      const url = how === 'hangs' ? got.url : 'http://127.0.0.1:1';
      const world = await openTracedWorld([weigher], { OTEL_EXPORTER_OTLP_ENDPOINT: url });
      const run_id = `${idPrefix}-silent-${how.length}`;
      await world.runs.start({ agent: 'weigher', goal: 'g', run_id, policy: quick });
      expect(await world.runs.result(run_id)).toMatchObject({ outcome: 'completed' });
      const began = performance.now();
      await world.telemetry.shutdown();
      // Its time is 2 s; the exporter by itself would try for ten.
      expect(performance.now() - began).toBeLessThan(8_000);
      expect(world.warnings).toMatchObject([{ event: 'telemetry_not_delivered', endpoint: new URL(url).host }]);
    },
  );
});

describe('the bundle with telemetry', () => {
  it('replays every kept history, also those that were made without', { timeout: 60_000 }, async () => {
    const folder = new URL('../replay/histories/', import.meta.url);
    const codePath = await tracedBundle();
    const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
    expect(files.length).toBeGreaterThan(10);
    let told = 0;
    const sinks = { secondwindTrace: { ended: { fn: () => void (told += 1), callDuringReplay: false } } };
    const histories = files.map((file) => ({
      workflowId: `agent-run/${file}`,
      history: JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as unknown,
    }));
    const options = { workflowBundle: { codePath }, dataConverter: createDataConverter(), sinks };
    const replayed: string[] = [];
    for await (const { workflowId, error } of Worker.runReplayHistories(options, histories)) {
      expect({ workflowId, error }).toEqual({ workflowId, error: undefined });
      replayed.push(workflowId);
    }
    expect(replayed).toHaveLength(files.length);
    expect(told).toBe(0);
  });

  it('makes histories that the bundle without it replays', async () => {
    const got = await collector();
    const world = await openTracedWorld([weigher], { OTEL_EXPORTER_OTLP_ENDPOINT: got.url });
    const run_id = `${idPrefix}-replayed`;
    await world.runs.start({ agent: 'weigher', goal: 'g', run_id, policy: quick });
    await world.runs.result(run_id);
    const history = await world.client.workflow.getHandle(workflowIdOfRun(run_id)).fetchHistory();
    const options = { workflowBundle: { codePath: workflowBundlePath() }, dataConverter: createDataConverter() };
    await expect(Worker.runReplayHistory(options, history, workflowIdOfRun(run_id))).resolves.toBeUndefined();
  });

  it('is a few kilobytes larger, with nothing of OpenTelemetry; without it there is nothing of it', async () => {
    const codeOf = (path: string): string => {
      const whole = readFileSync(path, 'utf8');
      return whole.slice(0, whole.lastIndexOf('//# sourceMappingURL='));
    };
    const [traced, plain] = [codeOf(await tracedBundle()), codeOf(workflowBundlePath())];
    console.log(`telemetry adds ${traced.length - plain.length} bytes to the bundle`);
    expect(traced.length - plain.length).toBeLessThan(20_000);
    expect(traced).toContain('_tracer-data');
    expect(plain).not.toContain('_tracer-data');
    expect(traced).not.toContain('@opentelemetry');
  });
});
