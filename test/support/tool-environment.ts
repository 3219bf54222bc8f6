/** The environment of a tool call without Temporal: a store in memory, a log that tests can read, the real redactor. */
import { createHash } from 'node:crypto';
import type { LogEvent, ToolEnvironment } from '../../src/activities/tools/tool-environment.ts';
import { executeTool } from '../../src/activities/tools/execute-tool.ts';
import { createRedactor } from '../../src/core/redaction/redact.ts';
import type { Tool } from '../../src/define/define-tool.ts';
import type { Json } from '../../src/protocol/json.ts';
import type { CallFailed, CallSucceeded, ToolCallRequest } from '../../src/protocol/tools.ts';

export interface TestEnvironment extends ToolEnvironment {
  artifacts: Map<string, Buffer>;
  logs: LogEvent[];
  events(name: string): LogEvent[];
  text(id: string | null | undefined): string;
  stop(why: 'cancelled' | 'shutdown'): void;
}

export function toolEnvironment(given: Partial<ToolEnvironment> = {}): TestEnvironment {
  const artifacts = new Map<string, Buffer>();
  const logs: LogEvent[] = [];
  const stopping = new AbortController();
  let stopped: 'cancelled' | 'shutdown' | null = null;
  return {
    artifacts,
    logs,
    events: (name) => logs.filter((line) => line.event === name),
    text: (id) => artifacts.get(id ?? '')?.toString('utf8') ?? `(no artifact ${id})`,
    stop: (why) => {
      stopped = why;
      stopping.abort(new Error(why));
    },
    signal: stopping.signal,
    stopped: () => stopped,
    heartbeat: () => undefined,
    loadArtifact: async (id) => {
      const found = artifacts.get(id);
      return found === undefined ? undefined : (JSON.parse(found.toString('utf8')) as Json);
    },
    waitForStore: (_purpose, ask) => ask(),
    saveArtifact: async (id, content) => {
      const bytes = Buffer.from(content as Uint8Array);
      // As the store does, refuses bytes whose hash is not their id.
      if (createHash('sha256').update(bytes).digest('hex') !== id) throw new Error('hash mismatch');
      artifacts.set(id, bytes);
    },
    log: (event) => void logs.push(event),
    redact: createRedactor(['hunter2-hunter2']),
    now: () => Date.now(),
    ...given,
  };
}

export const request = (input: Json, given: Partial<ToolCallRequest> = {}): ToolCallRequest => ({
  run_id: 'run-1',
  agent: 'tester',
  loop_id: 'loop_run-1',
  step_id: 1,
  attempt: 1,
  phase: 'work',
  tool: 'tool',
  input,
  guidance: { rows: [], text: '' },
  constraints: {},
  idempotency_key: 'run-1:1',
  fence: 1,
  timeout_ms: 10_000,
  time_left_ms: 60_000,
  waited_ms: 0,
  ...given,
});

/** Runs the tool and expects a success, or a failure. Any other outcome fails the test. */
export async function succeeded(tool: Tool, asked: ToolCallRequest, env = toolEnvironment()): Promise<CallSucceeded> {
  const outcome = await executeTool(tool, asked, env);
  if (outcome.class !== 'ok') throw new Error(`expected a success: ${JSON.stringify(outcome)}`);
  return outcome;
}
export async function failed(tool: Tool, asked: ToolCallRequest, env = toolEnvironment()): Promise<CallFailed> {
  const outcome = await executeTool(tool, asked, env);
  if (outcome.class !== 'failed') throw new Error(`expected a failure: ${JSON.stringify(outcome).slice(0, 500)}`);
  return outcome;
}
