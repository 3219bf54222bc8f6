/** Counts in how many places of its state a run keeps one failure, over its whole life. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Words that appear only in this failure. Its fingerprint refers to it without copying it, so that does not count. */
const MESSAGE = 'the canary fell silent';
const CODE = 'CANARY_SILENT';

type Ports = Record<string, unknown>;
type Loaded = Record<string, (...args: never[]) => unknown>;

/**
 * The paths at which the state holds the failure. An element of a list is one place. In a step each field is one place,
 * because steps used to have a field for every copy.
 */
export async function placesOfOneFailure(root: string): Promise<string[]> {
  const load = (file: string) => import(pathToFileURL(join(root, 'src', file)).href) as Promise<Loaded>;
  const isOld = existsSync(join(root, 'src/core/run/agent.ts'));
  const { runAgent } = await load(isOld ? 'core/run/agent.ts' : 'core/run/run-agent.ts');
  const { openRun } = await load('core/run/state.ts');
  const { defineAgent } = await load('define/define-agent.ts');
  const { defineTool } = await load('define/define-tool.ts');
  const { createRegistry } = await load('define/registry.ts');
  const { prepareRun } = await load('define/prepare-run.ts');
  const { z } = await import('zod');

  const call = (fn: ((...args: never[]) => unknown) | undefined, ...args: unknown[]): unknown => {
    if (fn === undefined) throw new Error(`${root} has other names`);
    return fn(...(args as never[]));
  };
  const tool = call(defineTool, {
    name: 'sing',
    effect: 'read',
    evaluates: true,
    input: z.object({}),
    output: z.json(),
    run: () => 1,
  });
  const planner = { choose: () => ({ calls: [] }) };
  const agent = call(defineAgent, { name: 'bird', tools: [tool], planner });
  const asked = call(prepareRun, { agent: 'bird', goal: 'sing' }, call(createRegistry, [agent]), 'r1') as {
    prepared: unknown;
  };
  const state = call(openRun, asked.prepared, 0) as object;

  const found = new Set<string>();
  const look = (): void => {
    for (const place of placesIn(state)) found.add(place);
  };
  await call(runAgent, state, portsThatLook(look));
  return [...found].sort();
}

function portsThatLook(look: () => void): Ports {
  let turn = 0;
  const failed = {
    class: 'failed',
    certainty: 'failed',
    origin: 'tool',
    category: 'server_error',
    error_code: CODE,
    message_preview: MESSAGE,
    duration_ms: 1,
  };
  const away = { saved: false, reason: 'the store is away' };
  const seen =
    <T>(answer: T) =>
    async (): Promise<T> => {
      look();
      await new Promise((resolve) => setImmediate(resolve));
      look();
      return answer;
    };
  return {
    now: () => 0,
    until: seen(false),
    call: seen(failed),
    reconcile: seen({ verdict: 'unknown' }),
    callModel: async () => {
      look();
      turn += 1;
      const calls = turn === 1 ? [{ tool: 'sing', input: {} }] : [];
      return { class: 'ok', calls, tokens: 0, cost_micro_usd: 0, duration_ms: 1 };
    },
    review: seen({ class: 'cancelled', duration_ms: 0 }),
    recall: seen([]),
    notify: () => undefined,
    record: seen(away),
    archive: seen(away),
    archiveLater: seen(undefined),
    publish: look,
    log: look,
    shouldHandOver: () => false,
  };
}

function placesIn(state: object): string[] {
  const found = new Set<string>();
  const visit = (value: unknown, path: string): void => {
    const isCopy = typeof value === 'string' && (value.includes(MESSAGE) || value === CODE);
    if (isCopy && !isSentence(path)) found.add(placeOf(path));
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      visit(inner, Array.isArray(value) ? `${path}[]` : path === '' ? key : `${path}.${key}`);
    }
  };
  visit(state, '');
  return [...found].sort();
}

/** A question or a reason is a sentence for people, which does not have to be kept in sync with anything. */
const isSentence = (path: string): boolean => /(?:^|\.)(?:question|why|reason)(?:\.|$)/.test(path);

function placeOf(given: string): string {
  // A step moves from the batch to the finished steps and is never in both for long.
  const path = given.replace('loop.batch[]', 'loop.steps[]');
  const [, list = path] = /^(.*\[\])[^[]*$/.exec(path) ?? [];
  const isStep = /(?:^|\.)(?:batch|steps)\[\]$/.test(list);
  return isStep ? list + (/^\.\w+/.exec(path.slice(list.length))?.[0] ?? '') : list;
}
