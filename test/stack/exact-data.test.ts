/**
 * What travels to workflows and tools is exact, and what people read is redacted. Each case was seen to go wrong when payloads
 * were redacted on their way. Real Temporal, real Postgres.
 * test/stack/exact-runs.test.ts lives 200 runs of this kind.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../src/define/define-agent.ts';
import { defineTool } from '../../src/define/define-tool.ts';
import { type ApiWorld, openApiWorld } from '../support/api-world.ts';
import { echoAgents, type Received, secretRun } from '../support/secret-runs.ts';
import { secretFormats } from '../support/secret-formats.ts';

const received: Received[] = [];
const written: string[] = [];
const writeFile = defineTool({
  name: 'write_file',
  effect: 'idempotent',
  input: z.object({ text: z.string() }),
  output: z.object({ text: z.string() }),
  run: ({ text }) => {
    written.push(text);
    return { text };
  },
});

let world: ApiWorld;
const passwordBefore = process.env['POSTGRES_PASSWORD'];
beforeAll(async () => {
  // The default of many images; it must not change the tool `postgres.query`.
  process.env['POSTGRES_PASSWORD'] = 'postgres';
  world = await openApiWorld([...echoAgents(received), defineAgent({ name: 'writer', tools: [writeFile] })]);
  await world.startWorker();
}, 120_000);
afterAll(async () => {
  await world.close();
  if (passwordBefore === undefined) delete process.env['POSTGRES_PASSWORD'];
  else process.env['POSTGRES_PASSWORD'] = passwordBefore;
});

describe('what looks like a secret', () => {
  it('is a good id for a run, a pass and a step', { timeout: 60_000 }, async () => {
    const name = `sk-learn-training-2026-11-16-${world.newRunId('ids')}`;
    const steps = ['sk-step-of-the-training-2026', 'sk-step-of-the-evaluation-2026'].map((id, marker) => ({
      id,
      phase: 'work',
      tool: 'postgres.query',
      input: { marker: 1_000 + marker },
    }));
    await world.runs.start({ agent: 'secretive', goal: 'g', run_id: name, loop_id: `${name}-loop`, plan: { steps } });
    expect(await world.runs.result(name)).toMatchObject({ run_id: name, outcome: 'completed', used: { steps: 2 } });
    const { body } = await world.ask('GET', `/v1/runs/${name}`, { role: 'viewer' });
    expect(body).toMatchObject({ run_id: name, loop_id: `${name}-loop` });
    const shown = await world.ask<{ steps: { tool: string }[] }>('GET', `/v1/runs/${name}/steps`, { role: 'viewer' });
    expect(shown.body.steps.map(({ tool }) => tool)).toEqual(['postgres.query', 'postgres.query']);
  });

  it('reaches tools byte by byte, and five runs have five idempotency keys', { timeout: 60_000 }, async () => {
    const runs = Array.from({ length: 5 }, (_, index) => secretRun(index, world.newRunId('r')));
    received.length = 0;
    await Promise.all(runs.map(({ request }) => world.runs.start(request)));
    const ended = await Promise.all(runs.map(({ request }) => world.runs.result(request.run_id)));
    expect(ended.map(({ outcome }) => outcome)).toEqual(runs.map(() => 'completed'));
    for (const [index, { inputs }] of runs.entries()) {
      const own = received.filter(({ marker }) => marker === index).map(({ text }) => JSON.parse(text) as unknown);
      expect(own).toEqual(inputs.map((text) => JSON.parse(text) as unknown));
    }
    expect(new Set(received.map(({ key }) => key)).size).toBe(15);
  });
});

describe('an artifact', () => {
  it('is exact for an operator, and redacted text for everybody else', { timeout: 60_000 }, async () => {
    const text = secretFormats(77)
      .map((format) => format.text)
      .join('\n');
    const run_id = world.newRunId('artifact');
    const plan = { steps: [{ phase: 'work', tool: 'write_file', input: { text } }] };
    await world.runs.start({ agent: 'writer', goal: 'write', run_id, plan });
    const { result } = await world.runs.result(run_id);
    expect(written).toEqual([text]);
    const artifact = `/v1/artifacts/${String(result?.artifact_id)}`;
    const raw = await world.fetch(artifact, { role: 'operator' });
    expect(raw.headers.get('content-type')).toBe('application/json');
    expect(JSON.parse(await raw.text())).toEqual({ text });
    const preview = await (await world.fetch(`${artifact}?preview=1`, { role: 'operator' })).text();
    expect(preview).toContain('[redacted:github_token]');
    for (const role of ['viewer', 'reporter'] as const) {
      const other = await world.fetch(artifact, { role });
      expect(other.headers.get('content-type')).toBe('text/plain; charset=utf-8');
      expect(await other.text()).toBe(preview);
    }
  });

  it('holds source code as it was written', { timeout: 60_000 }, async () => {
    const text = 'const secret = abcdefgh12;';
    const run_id = world.newRunId('source');
    const steps = [{ phase: 'work', tool: 'write_file', input: { text } }];
    written.length = 0;
    await world.runs.start({ agent: 'writer', goal: 'write', run_id, plan: { steps } });
    const { result } = await world.runs.result(run_id);
    expect([written, result?.output]).toEqual([[text], { text }]);
  });
});
