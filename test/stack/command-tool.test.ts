/**
 * Command and HTTP tools in real runs: the waits in history are the promised ones, the requests that leave are counted
 * where they arrive, and what a command prints, however bad, harms nothing. Needs Temporal and Postgres.
 */
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../src/define/define-agent.ts';
import { workflowIdOfRun } from '../../src/protocol/ids.ts';
import type { PolicyPatch } from '../../src/protocol/schemas/policy.ts';
import type { CallFailed } from '../../src/protocol/tools.ts';
import { commandTool } from '../../src/define/command/command-tool.ts';
import type { CommandOutput } from '../../src/define/command/command-output.ts';
import { httpTool } from '../../src/define/http/http-tool.ts';
import { processesNamed } from '../support/processes.ts';
import { openRunWorld, type RunWorld } from '../support/run-world.ts';

const TOKEN = `ghp_${'a1B2c3D4'.repeat(5)}`;

/** Exits 1, as a check that found no grounding, until its attempt is beyond `fails`; then it prints its prompt. */
const evaluate = commandTool({
  name: 'evaluate',
  effect: 'read',
  protocol: true,
  input: z.object({ fails: z.int() }),
  prompt: { text: () => 'Rate this essay.', file: true, provider: 'google' },
  argv: ({ fails }, { promptFile }) => [
    'sh',
    '-c',
    'if [ "$SECONDWIND_ATTEMPT" -le "$1" ]; then echo "no sources were cited" >&2; exit 1; fi; cat "$2"',
    'sh',
    String(fails),
    promptFile,
  ],
});

const script = commandTool({
  name: 'script',
  effect: 'read',
  input: z.object({ text: z.string(), marker: z.string().optional() }),
  maxOutputBytes: 12 * 1024 * 1024,
  argv: ({ text, marker }) => ['sh', '-c', text, marker ?? 'sh'],
});

const http = (name: string, effect: 'read' | 'side_effect') =>
  httpTool({
    name,
    effect,
    input: z.object({ url: z.string() }),
    allowPrivate: ['127.0.0.1'],
    request: ({ url }) => ({ url, method: effect === 'read' ? 'GET' : 'POST' }),
  });

const agent = defineAgent({
  name: 'worker',
  tools: [evaluate, script, http('fetch', 'read'), http('pay', 'side_effect')],
});

let world: RunWorld;
const servers: Server[] = [];
beforeAll(async () => {
  world = await openRunWorld([agent]);
  await world.startWorker();
});
afterAll(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  await world.close();
});

async function serve(listener: RequestListener): Promise<{ url: string; requests: IncomingMessage[] }> {
  const requests: IncomingMessage[] = [];
  const server = createServer((asked, answer) => {
    requests.push(asked);
    listener(asked, answer);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, requests };
}

const start = async (
  name: string,
  tool: string,
  input: object,
  policy: PolicyPatch = {},
  to = world,
): Promise<string> => {
  const run_id = to.newRunId(name);
  const plan = { steps: [{ phase: 'work', tool, input: input as never }] };
  // One run in ten would otherwise be part of the baseline, without enhanced prompts.
  const retry = { enhance_holdout: 0, ...policy.retry };
  await to.runs.start({ agent: 'worker', goal: 'do it', run_id, plan, policy: { ...policy, retry } });
  return run_id;
};

/** The timers of a run, in milliseconds, as Temporal's history has them. */
async function timersOf(runId: string): Promise<number[]> {
  const { events } = await world.client.workflow.getHandle(workflowIdOfRun(runId)).fetchHistory();
  return (events ?? []).flatMap(({ timerStartedEventAttributes: timer }) =>
    timer
      ? [Number(timer.startToFireTimeout?.seconds ?? 0) * 1_000 + (timer.startToFireTimeout?.nanos ?? 0) / 1e6]
      : [],
  );
}

async function artifact(id: string | undefined): Promise<string> {
  const found = await world.store.artifacts.get(id ?? '');
  if (found === null) throw new Error(`no artifact ${id}`);
  return new TextDecoder().decode(found.bytes);
}

const outputOf = async (runId: string): Promise<CommandOutput> => {
  const { result } = await world.runs.result(runId);
  return JSON.parse(await artifact(result?.artifact_id ?? undefined)) as CommandOutput;
};

/** The outcomes of attempts that failed, as they are in history. */
async function failuresOf(runId: string): Promise<CallFailed[]> {
  const { events } = await world.client.workflow.getHandle(workflowIdOfRun(runId)).fetchHistory();
  return (events ?? []).flatMap(({ activityTaskFailedEventAttributes: failed }) => {
    const data = failed?.failure?.applicationFailureInfo?.details?.payloads?.[0]?.data;
    return data ? [JSON.parse(new TextDecoder().decode(data)) as CallFailed] : [];
  });
}

/** Nobody is asked: a step that failed for good ends the run. */
const unasked: PolicyPatch = { humans: { max_questions: 0 } };

describe('a command whose check finds no grounding', () => {
  it('waits 1 s and 2 s by default, and its third prompt says what was missed', async () => {
    const run_id = await start('grounding', 'evaluate', { fails: 2 });
    expect(await world.runs.result(run_id)).toMatchObject({ outcome: 'completed', used: { attempts: 3 } });
    expect(await timersOf(run_id)).toEqual([1_000, 2_000]);

    const records = await world.store.records.forRun(run_id);
    expect(records).toMatchObject([
      {
        signal_type: 'contract_violation',
        observed_outcome: { error_code: 'EXIT_1', message_preview: 'no sources were cited' },
      },
      { signal_type: 'contract_violation', observed_outcome: { error_code: 'EXIT_1' } },
    ]);
    expect(records[0]?.fingerprint).toBe(records[1]?.fingerprint);
    // The prompts of the failed attempts are there to look back at: the first as it was, the second with its difference.
    expect(await artifact(records[0]?.context_refs.artifact_ids?.[0])).toBe('Rate this essay.');
    const [, second, difference] = records[1]?.context_refs.artifact_ids ?? [];
    expect(await artifact(second)).toContain('CRITICAL');
    expect(await artifact(difference)).toContain('+=== SECONDWIND RETRY NOTE ===');

    const { stdout } = await outputOf(run_id);
    expect(stdout).toContain('MANDATORY');
    expect(stdout).toContain('MUST use Google Search');
    expect(stdout.endsWith('Rate this essay.')).toBe(true);
  });

  it('waits 1, 2 and 4 s where the policy allows three retries', async () => {
    const run_id = await start('three', 'evaluate', { fails: 3 }, { retry: { validation: 3 } });
    expect(await world.runs.result(run_id)).toMatchObject({ outcome: 'completed', used: { attempts: 4 } });
    expect(await timersOf(run_id)).toEqual([1_000, 2_000, 4_000]);
    expect((await outputOf(run_id)).stdout).toContain('ABSOLUTE');
  });

  it('gets its prompt as it was where enhancing is off', async () => {
    const run_id = await start('off', 'evaluate', { fails: 1 }, { retry: { enhance: false, base_ms: 20 } });
    await world.runs.result(run_id);
    expect((await outputOf(run_id)).stdout).toBe('Rate this essay.');
  });
});

describe('a server that always answers 503', () => {
  const down = () => serve((_asked, answer) => void answer.writeHead(503).end());

  it('gets 5 requests by default, and none more', async () => {
    const site = await down();
    const run_id = await start('down', 'fetch', { url: site.url }, { ...unasked, retry: { base_ms: 20 } });
    expect(await world.runs.result(run_id)).toMatchObject({ outcome: 'finalized', used: { attempts: 5 } });
    expect(site.requests).toHaveLength(5);
  });

  it('gets 2 where the budget leaves 2', async () => {
    const site = await down();
    const policy = { ...unasked, retry: { base_ms: 20 }, budget: { max_attempts: 2 } };
    const run_id = await start('poor', 'fetch', { url: site.url }, policy);
    expect(await world.runs.result(run_id)).toMatchObject({ outcome: 'budget_exhausted', used: { attempts: 2 } });
    expect(site.requests).toHaveLength(2);
  });
});

describe('a side effect that gave no answer', () => {
  it('is not run again: one question is asked', async () => {
    const site = await serve((asked) => void asked.socket.resetAndDestroy());
    const run_id = await start('unknown', 'pay', { url: site.url });
    await expect.poll(async () => (await world.runs.get(run_id)).pending_question).toBeDefined();
    const { pending_question } = await world.runs.get(run_id);
    expect(pending_question?.text).toContain('it is not known whether its effect happened');
    await world.runs.answer(run_id, { question_id: pending_question?.question_id ?? '', decision: 'skip', by: 'ada' });
    await world.runs.result(run_id);
    expect(site.requests).toHaveLength(1);
    expect(site.requests[0]?.headers['idempotency-key']).toMatch(/:pay:[0-9a-f]{32}:1$/);
  });
});

describe('a host that the tool refuses', () => {
  it('is refused before the call from then on', async () => {
    const site = await serve((_asked, answer) => answer.end());
    const run_id = world.newRunId('denied');
    const step = { phase: 'work', tool: 'fetch', input: { url: site.url.replace('127.0.0.1', 'localhost') } };
    await world.runs.start({ agent: 'worker', goal: 'go', run_id, plan: { steps: [step] } });
    await expect.poll(async () => (await world.runs.get(run_id)).pending_question).toBeDefined();
    const { pending_question } = await world.runs.get(run_id);
    await world.runs.answer(run_id, { question_id: pending_question?.question_id ?? '', decision: 'retry', by: 'ada' });
    await expect
      .poll(
        async () => (await world.store.records.forRun(run_id)).map((record) => record.observed_outcome.error_code),
        {
          timeout: 10_000,
        },
      )
      .toEqual(['HOST_DENIED', 'DENIED_BY_CONSTRAINT']);
    expect(site.requests).toHaveLength(0);
    await world.runs.cancel(run_id, { by: 'ada' }, { waitMs: 0 });
  });
});

describe('what a command prints', () => {
  it('may be no text, in colours, with NUL and a secret: the run gets it exactly', async () => {
    const text = String.raw`printf 'a\377\000\033[31mred\033[0m token ${TOKEN}\n'`;
    const run_id = await start('bytes', 'script', { text });
    expect(await world.runs.result(run_id)).toMatchObject({ outcome: 'completed' });
    const { stdout } = await outputOf(run_id);
    expect(stdout).toBe(`a\uFFFD\0\u001b[31mred\u001b[0m token ${TOKEN}\n`);
  });

  it('as a complaint, becomes one clean line of a record, and is kept whole', async () => {
    const text = String.raw`printf '\033[31mError:\033[0m bad\000 \377 ${TOKEN}\nmore\n' >&2; exit 9`;
    const run_id = await start('complaint', 'script', { text }, { ...unasked, retry: { unknown_error: 0 } });
    await world.runs.result(run_id);
    const [record] = await world.store.records.forRun(run_id);
    expect(record?.observed_outcome.message_preview).toBe('Error: bad \uFFFD [redacted:github_token]');
    const [attempt] = await failuresOf(run_id);
    expect(attempt?.kept).toMatchObject([{ what: 'stderr' }]);
    const kept = await world.store.artifacts.get(attempt?.kept?.[0]?.artifact_id ?? '');
    expect(Buffer.from(kept?.bytes ?? []).toString('latin1')).toContain(`\xff ${TOKEN}\nmore\n`);
  });

  it('may be ten megabytes: they are stored, and only their name travels', async () => {
    const run_id = await start('large', 'script', { text: 'head -c 10485760 /dev/zero | tr "\\0" x' });
    expect(await world.runs.result(run_id)).toMatchObject({ outcome: 'completed', used: { attempts: 1 } });
    expect((await outputOf(run_id)).stdout.length).toBe(10_485_760);
    const { events } = await world.client.workflow.getHandle(workflowIdOfRun(run_id)).fetchHistory();
    expect(JSON.stringify(events).length).toBeLessThan(200_000);
  });
});

describe('a command that runs', () => {
  const endless = (marker: string) => ({ text: 'trap "" TERM; while :; do sleep 1; done', marker });

  it('is ended when its run is cancelled', async () => {
    const marker = `secondwind-cancel-${process.pid}`;
    const run_id = await start('cancel', 'script', endless(marker));
    await expect.poll(() => processesNamed(marker).length).toBeGreaterThan(0);
    await world.runs.cancel(run_id, { by: 'ada' }, { waitMs: 0 });
    expect(await world.runs.result(run_id)).toMatchObject({ outcome: 'cancelled' });
    expect(processesNamed(marker)).toEqual([]);
  });

  it('is ended when its worker stops', { timeout: 60_000 }, async () => {
    const other = await openRunWorld([agent]);
    try {
      const stop = await other.startWorker();
      const marker = `secondwind-stop-${process.pid}`;
      const run_id = await start('stop', 'script', endless(marker), {}, other);
      await expect.poll(() => processesNamed(marker).length).toBeGreaterThan(0);
      await stop();
      expect(processesNamed(marker)).toEqual([]);
      await other.client.workflow.getHandle(workflowIdOfRun(run_id)).terminate('the test is over');
    } finally {
      await other.close();
    }
  });
});
