/**
 * Recorded calls through everything that watches an agent: `inspect`, the guard, the hook, the proxy, the simulator and
 * `agentRun`. All of them must find the agent stuck at the same call, by the same rule.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { inspectFile } from '../../src/cli/inspect/inspect-file.ts';
import { createProxy } from '../../src/cli/proxy/create-proxy.ts';
import { listen } from '../../src/cli/proxy/serve-proxy.ts';
import { settingsOf } from '../../src/core/guard/guard-state.ts';
import { mergePolicy } from '../../src/core/policy/merge-policy.ts';
import { createGuard } from '../../src/guard.ts';
import { defineAgent, defineTool, ToolError } from '../../src/index.ts';
import { DEFAULT_POLICY } from '../../src/protocol/policy.ts';
import type { FailureRecord } from '../../src/protocol/schemas/failure-record.ts';
import { liveInSimulator } from '../scenarios/live-in-simulator.ts';
import { startHookCli } from '../support/hook-process.ts';
import { type RecordedCall, type Recording, RECORDINGS } from '../support/recordings.ts';
import { openRunWorld, type RunWorld } from '../support/run-world.ts';
import { serveUpstream, type TestUpstream } from '../support/upstream.ts';

type Stuck = Recording['stuck'];

const callsOf = (goal: string): RecordedCall[] => RECORDINGS.find(({ name }) => name === goal)?.calls ?? [];
const answerOf = (tool: string, input: unknown): RecordedCall | undefined =>
  RECORDINGS.flatMap(({ calls }) => calls).find(
    (call) => call.tool === tool && JSON.stringify(call.input) === JSON.stringify(input),
  );

/** An agent that makes the recorded calls, with tools that give the recorded answers. */
const replayer = defineAgent({
  name: 'replayer',
  tools: [...new Set(RECORDINGS.flatMap(({ calls }) => calls.map(({ tool }) => tool)))].map((name) =>
    defineTool({
      name,
      effect: 'read',
      input: z.record(z.string(), z.string()),
      output: z.string(),
      run: (input) => {
        const { failed, output = '' } = answerOf(name, input) ?? {};
        if (failed) throw new ToolError(output, { category: 'invalid_input' });
        return output;
      },
    }),
  ),
  planner: {
    choose: ({ turn, goal }) => {
      const call = callsOf(goal)[turn - 1];
      return { calls: call === undefined ? [] : [{ tool: call.tool, input: call.input }] };
    },
  },
});

const stallOf = (records: readonly FailureRecord[]): Stuck => {
  const stall = records.find(({ signal_type }) => signal_type === 'loop_stall');
  return stall === undefined ? null : { at: stall.step_id, rule: stall.observed_outcome.error_code ?? '' };
};
/** Observes, so that every call runs and the run ends by itself. */
const requestFor = ({ name }: Recording) => ({
  agent: 'replayer',
  goal: name,
  policy: { mode: 'observe' as const, memory: { scope: 'run' as const }, failures: { escalate_at: 50 } },
});

const chatOf = (calls: readonly RecordedCall[]) => [
  { role: 'user', content: 'Tidy the desk.' },
  ...calls.flatMap(({ tool, input, output }, n) => [
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: `c${n}`, type: 'function', function: { name: tool, arguments: JSON.stringify(input) } }],
    },
    { role: 'tool', tool_call_id: `c${n}`, content: output },
  ]),
];

const folder = mkdtempSync(join(tmpdir(), 'secondwind-verdict-'));
let world: RunWorld;
let upstream: TestUpstream;
let proxy: { url: string; close: () => void };
beforeAll(async () => {
  world = await openRunWorld([replayer]);
  await world.startWorker();
  upstream = await serveUpstream((_request, response) => void response.end('{"from":"upstream"}'));
  const guard = settingsOf(mergePolicy({ mode: 'enforce' }));
  const started = createProxy({ upstream: new URL(upstream.url), guard, say: () => undefined });
  proxy = { url: await listen(started.server, 0, '127.0.0.1'), close: started.close };
});
afterAll(async () => {
  proxy.close();
  await upstream.close();
  await world.close();
  rmSync(folder, { recursive: true, force: true });
});

const watchers: Record<string, (recording: Recording) => Promise<Stuck>> = {
  inspect: async ({ name, calls }) => {
    const file = join(folder, `${name}.json`);
    writeFileSync(file, JSON.stringify(chatOf(calls)));
    const { loops } = await inspectFile(file, DEFAULT_POLICY.loops);
    const loop = loops.find(({ level }) => level === 'stuck');
    return loop === undefined ? null : { at: loop.would_stop_at ?? 0, rule: loop.rule };
  },
  guard: async ({ calls }) => {
    const guard = createGuard({ agent: 'a', mode: 'enforce' });
    for (const [at, { tool, input, output, failed }] of calls.entries()) {
      expect(await guard.before({ tool, input })).toMatchObject({ verdict: 'allow' });
      const after = await guard.after({ tool, input, ...(failed ? { error: output } : { output }) });
      if (after.verdict === 'stop') return { at: at + 1, rule: after.loop?.rule ?? '' };
    }
    return null;
  },
  hook: async ({ name, calls }) => {
    const home = mkdtempSync(join(folder, 'home-'));
    for (const [at, { tool, input, output, failed }] of calls.entries()) {
      const event = { session_id: name, tool_name: tool, tool_input: input };
      const told = failed
        ? { ...event, hook_event_name: 'PostToolUseFailure', error: output }
        : { ...event, hook_event_name: 'PostToolUse', tool_response: output };
      const { stdout } = await startHookCli(
        home,
        JSON.stringify(told),
        'run',
        '--agent',
        'claude',
        '--mode',
        'enforce',
      );
      if (!stdout.includes('"continue":false')) continue;
      const { stdout: report } = await startHookCli(home, '', 'report', '--json');
      const [session] = (JSON.parse(report) as { sessions: { loops: { rule: string }[] }[] }).sessions;
      return { at: at + 1, rule: session?.loops.at(-1)?.rule ?? '' };
    }
    return null;
  },
  proxy: async ({ calls }) => {
    for (let at = 1; at <= calls.length; at += 1) {
      const body = JSON.stringify({ model: 'm', messages: chatOf(calls.slice(0, at)) });
      const answer = await fetch(`${proxy.url}/v1/chat/completions`, { method: 'POST', body });
      if (answer.headers.get('x-secondwind') === null) continue;
      const { conversations } = (await (await fetch(`${proxy.url}/secondwind/report`)).json()) as {
        conversations: { calls: number; loops: { rule: string; tool: string }[] }[];
      };
      const own = conversations.find(({ loops }) => loops.at(-1)?.tool === calls[at - 1]?.tool);
      return { at, rule: own?.loops.at(-1)?.rule ?? '' };
    }
    return null;
  },
  simulator: async (recording) => {
    const scenario = { name: recording.name, request: requestFor(recording), expect: {} };
    const { records, archives } = await liveInSimulator(scenario, world.registry, world.newRunId('simulated'));
    return stallOf([...records, ...archives.map(({ pending }) => pending)].flatMap((batch) => batch.records));
  },
  agentRun: async (recording) => {
    const run_id = world.newRunId('replayed');
    await world.runs.start({ ...requestFor(recording), run_id });
    await world.runs.result(run_id);
    return stallOf(await world.store.records.forRun(run_id));
  },
};

// The hook is a process per call, and the machine may be busy.
describe.concurrent.each(RECORDINGS)('$name', { timeout: 120_000 }, (recording) => {
  it.each(Object.entries(watchers))(
    '%s finds the agent stuck at the same call, by the same rule',
    async (_name, watch) => {
      expect(await watch(recording)).toEqual(recording.stuck);
    },
  );
});
