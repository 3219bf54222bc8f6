/** Needs nothing. Values that would not fit into Temporal are refused in the activity, with a problem that says what to do. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { describe, expect, it } from 'vitest';
import { askPlanner } from '../../../src/activities/ask-planner.ts';
import type { PlannerView } from '../../../src/core/run/ports.ts';
import { defineTool } from '../../../src/define/define-tool.ts';
import type { Json } from '../../../src/protocol/json.ts';
import { canonicalJson, hashOfJson } from '../../../src/protocol/ids.ts';
import { failed, request, succeeded, toolEnvironment } from '../../support/tool-environment.ts';
import { z } from 'zod';

const view = { agent: 'tester', timeout_ms: 10_000 } as PlannerView;
const choose = (choice: unknown) => askPlanner({ choose: () => choice as { calls: [] } }, view, toolEnvironment());

describe('the choice of a planner', () => {
  it.each([
    ['is too large', { calls: [], output: 'x'.repeat(5_000_000) }, /over the cap of 262144; choose fewer or smaller/],
    ['holds itself', { calls: [], output: holdsItself() }, /nested deeper than 100 levels/],
    ['is not JSON', { calls: [], output: 10n }, /not JSON/],
  ])('that %s fails as an invalid plan and says why', async (_what, choice, why) => {
    const outcome = await choose(choice);
    expect(outcome).toMatchObject({
      class: 'failed',
      error_code: 'INVALID_PLAN',
      message_preview: expect.stringMatching(why),
    });
  });

  it('a choice within the caps arrives unchanged', async () => {
    expect(await choose({ calls: [{ tool: 'look', input: { at: 1 } }] })).toMatchObject({
      class: 'ok',
      calls: [{ tool: 'look', input: { at: 1 } }],
    });
  });
});

describe('the details of a heartbeat', () => {
  it.each([
    ['small ones', { done: 3 }, { done: 3 }, 0],
    ['none', undefined, undefined, 0],
    ['large ones', 'x'.repeat(20_000), undefined, 1],
  ])(
    '%s: the tool goes on, and what is too large is dropped with a line in the log',
    async (_what, told, sent, lines) => {
      const beats: (Json | undefined)[] = [];
      const env = toolEnvironment({ heartbeat: (details) => void beats.push(details) });
      const tool = defineTool({
        name: 'tool',
        input: z.object({}),
        output: z.string(),
        effect: 'read',
        run: async (_input, ctx) => {
          ctx.heartbeat(told);
          return 'done';
        },
      });
      expect((await succeeded(tool, request({}), env)).output).toBe('done');
      expect(beats).toEqual([sent]);
      expect(env.events('heartbeat_details_dropped')).toHaveLength(lines);
    },
  );
});

describe('an output that a constraint makes shorter', () => {
  it('is shortened off the main thread: the event loop is held up for a fraction of the time', async () => {
    const list = Array.from({ length: 100_000 }, (_, id) => ({ name: `item ${id} of a long list`, id, tags: ['b'] }));
    const tool = defineTool({
      name: 'tool',
      input: z.object({}),
      output: z.json(),
      effect: 'read',
      maxOutputBytes: 16 * 1024 * 1024,
      run: () => list,
    });
    const delay = monitorEventLoopDelay({ resolution: 5 });
    // The thread is started by the first large task, and loading it is not measured.
    await succeeded(tool, request({}), toolEnvironment());
    delay.enable();
    const startedAt = performance.now();
    const outcome = await succeeded(
      tool,
      request({}, { constraints: { max_output_bytes: 500_000 } }),
      toolEnvironment(),
    );
    const tookMs = performance.now() - startedAt;
    delay.disable();
    expect(outcome.bytes).toBeLessThanOrEqual(500_000);
    expect(delay.max / 1e6).toBeLessThan(tookMs / 2);
  });
});

describe('a large output', () => {
  const items = Array.from({ length: 40_000 }, (_, id) => ({ name: `item ${id}`, id, tags: ['b', 'a'] }));
  const listing = (output: z.ZodType<Json>) =>
    defineTool({ name: 'tool', input: z.object({}), output, effect: 'read', run: async () => items });
  const own: z.ZodType<Json> = z.lazy(() =>
    z.union([z.string().max(3), z.number(), z.boolean(), z.null(), z.array(own), z.record(z.string(), own)]),
  );

  it.each([
    ['any JSON', z.json()],
    ['a list of objects', z.array(z.object({ name: z.string(), id: z.number(), tags: z.array(z.string()) }))],
  ])('that has to be %s is kept as canonical JSON under its sha256', async (_what, schema) => {
    const env = toolEnvironment();
    const { artifact_id, inline } = await succeeded(listing(schema), request({}), env);
    expect(inline).toBe(false);
    expect(artifact_id).toBe(hashOfJson(items));
    expect(JSON.parse(env.text(artifact_id))).toEqual(items);
  });

  it('is still checked by a schema of your own that only looks like any JSON', async () => {
    expect(await failed(listing(own), request({}))).toMatchObject({ error_code: 'INVALID_OUTPUT' });
  });

  it('of 3 MB holds up a neighbour for less time than its canonical form alone takes in place', async () => {
    const tool = listing(z.json());
    await succeeded(tool, request({}));
    const started = performance.now();
    canonicalJson(items);
    const inPlaceMs = performance.now() - started;
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    await succeeded(tool, request({}));
    delay.disable();
    expect(delay.max / 1e6).toBeLessThan(inPlaceMs);
  });
});

function holdsItself(): object {
  const list: unknown[] = [];
  list.push(list, list);
  return list;
}
