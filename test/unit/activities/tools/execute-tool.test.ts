/** One attempt of a function tool: what its outcome tells, and what the constraints of a run refuse. Needs no stack. */
import { applyPatch } from 'diff';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { executeTool } from '../../../../src/activities/tools/execute-tool.ts';
import { defineTool, type ToolContext, type ToolDefinition } from '../../../../src/define/define-tool.ts';
import { ToolError } from '../../../../src/define/tool-error.ts';
import type { Json } from '../../../../src/protocol/json.ts';
import type { RetryContext } from '../../../../src/protocol/tools.ts';
import { failed, request, succeeded, toolEnvironment } from '../../../support/tool-environment.ts';

const tool = (
  run: (input: Json, context: ToolContext) => Promise<Json> | Json,
  rest: Partial<ToolDefinition<Json, Json>> = {},
) => defineTool({ name: 'tool', effect: 'read', input: z.json(), output: z.json(), ...rest, run });

/** Expects that the attempt ends when this much of its time has passed, neither earlier nor later. */
async function endsAfter<T>(ms: number, attempt: () => Promise<T>): Promise<T> {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let ended = false;
  const outcome = attempt().finally(() => (ended = true));
  await vi.advanceTimersByTimeAsync(ms - 1);
  expect(ended).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  return outcome;
}

const grounding: RetryContext = { category: 'validation_grounding', retry: 1, missed: ['no grounding metadata'] };

describe('the prompt of an attempt', () => {
  const asks = (provider?: string) =>
    tool((_input, ctx) => ctx.enhance('Rate the essay.', provider === undefined ? {} : { provider }));

  it('the prompt of a first attempt is unchanged, and costs no write', async () => {
    const env = toolEnvironment();
    const outcome = await succeeded(asks(), request({}), env);
    expect(outcome.output).toBe('Rate the essay.');
    expect(outcome.prompt).toBeUndefined();
    expect(env.artifacts.size).toBe(0);
  });

  it('the prompt of a retry says what was missed, and both prompts and their difference are stored', async () => {
    const env = toolEnvironment();
    const outcome = await succeeded(asks(), request({}, { attempt: 2, retry_context: grounding }), env);
    const used = outcome.output as string;
    expect(used).toContain('CRITICAL');
    expect(used).toContain('- "no grounding metadata"');
    expect(used.endsWith('Rate the essay.')).toBe(true);
    expect(env.text(outcome.prompt?.original_id)).toBe('Rate the essay.');
    expect(env.text(outcome.prompt?.enhanced_id)).toBe(used);
    expect(applyPatch('Rate the essay.', env.text(outcome.prompt?.diff_id))).toBe(used);
    expect(outcome.prompt?.enhancement).toBe('grounding');
    expect(env.events('prompt_enhanced')).toEqual([
      expect.objectContaining({ category: 'validation_grounding', retry: 1, enhancement: 'grounding', attempt: 2 }),
    ]);
  });

  it('the prompt uses words made for a provider with that provider only', async () => {
    const retry = request({}, { attempt: 2, retry_context: grounding });
    expect((await succeeded(asks('Google'), retry)).output).toContain('MUST use Google Search');
    expect((await succeeded(asks('other'), retry)).output).not.toContain('Google');
  });

  it('the prompt of a retry is refined by the feedback of the failed attempt', async () => {
    const env = toolEnvironment();
    const signal = 'FAIL test_totals - expected 3 to equal 4';
    const feedback = { feedback_type: 'verification_failure', confidence: 0.7, signal };
    const retry_context: RetryContext = { category: 'unknown_error', retry: 1, missed: [], feedback };
    const outcome = await succeeded(asks(), request({}, { attempt: 2, retry_context }), env);
    expect(outcome.output).toMatch(/^Rate the essay\.\n[^]*running the failed check again/);
    expect(outcome.prompt).toMatchObject({ enhancement: 'feedback' });
    expect(env.events('prompt_refined')[0]).toMatchObject({ feedback_type: 'verification_failure', iteration: 1 });
  });

  it('the prompt of a failed attempt is stored too, even if nothing was added', async () => {
    const env = toolEnvironment();
    const fails = tool(async (_input, ctx) => {
      throw new Error(await ctx.enhance('Rate it.'));
    });
    const first = await failed(fails, request({}), env);
    expect(first.prompt).toMatchObject({ diff_id: null, enhancement: 'none' });
    expect(env.text(first.prompt?.enhanced_id)).toBe('Rate it.');
    const second = await failed(fails, request({}, { attempt: 2, retry_context: grounding }), env);
    expect(second.prompt?.diff_id).not.toBeNull();
  });

  it('the prompt is stored exactly as it was used', async () => {
    const env = toolEnvironment();
    const asksWithSecret = tool(async (_input, ctx) => {
      await ctx.enhance('Use hunter2-hunter2 to log in.');
      return null;
    });
    await succeeded(asksWithSecret, request({}, { attempt: 2, retry_context: grounding }), env);
    const kept = [...env.artifacts.values()].join('\n');
    expect(kept).toContain('Use hunter2-hunter2 to log in.');
    expect(kept).not.toContain('[redacted:');
  });

  it('the prompt is used even if the store is unavailable, and the outcome refers to no missing artifact', async () => {
    const away = toolEnvironment({ saveArtifact: () => Promise.reject(new Error('away')) });
    const outcome = await succeeded(asks(), request({}, { attempt: 2, retry_context: grounding }), away);
    expect(outcome.output).toContain('Grounding was missing');
    expect(outcome.prompt).toBeUndefined();
    expect(away.events('prompt_not_kept')).toHaveLength(1);
  });

  it('the prompt does not wait for a store that hangs', async () => {
    const hangs = toolEnvironment({ saveArtifact: () => new Promise(() => undefined) });
    const attempt = () => succeeded(asks(), request({}, { attempt: 2, retry_context: grounding }), hangs);
    expect(await endsAfter(2_000, attempt)).toMatchObject({ class: 'ok' });
  });
});

describe('what an attempt tells beside its end', () => {
  it('an attempt reports what it did differently, whether it succeeded or not', async () => {
    const says = (ok: boolean) =>
      tool((_input, ctx) => {
        ctx.changed('asked for 10 rows with hunter2-hunter2');
        if (!ok) throw new Error('still no');
        return null;
      });
    const text = 'asked for 10 rows with [redacted:known]';
    expect(await succeeded(says(true), request({}))).toMatchObject({ changed: text });
    expect(await failed(says(false), request({}))).toMatchObject({ changed: text });
  });

  it('an attempt reports a hash of what its probe returned; a probe that throws or hangs is ignored', async () => {
    let state = 1;
    const probing = (probe: () => Promise<Json> | Json) => tool(() => null, { probe });
    const one = await succeeded(
      probing(() => ({ state })),
      request({}),
    );
    state = 2;
    const two = await succeeded(
      probing(() => ({ state })),
      request({}),
    );
    expect(one.probe_hash).toMatch(/^[0-9a-f]{64}$/);
    expect(two.probe_hash).not.toBe(one.probe_hash);
    const bad = probing(() => {
      throw new Error('cannot look');
    });
    expect((await succeeded(bad, request({}))).probe_hash).toBeUndefined();
    const onFailure = tool(() => Promise.reject(new Error('no')), { probe: () => 'seen' });
    expect((await failed(onFailure, request({}))).probe_hash).toMatch(/^[0-9a-f]{64}$/);
  });

  it('a probe is given up after five seconds', async () => {
    const probing = tool(() => null, { probe: () => new Promise(() => undefined) });
    const outcome = await endsAfter(5_000, () => succeeded(probing, request({})));
    expect(outcome.probe_hash).toBeUndefined();
  });

  it('an attempt reports the query and the sorted chunks of a retrieval', async () => {
    const weak: Json = [
      { id: 'c2', score: 0.1 },
      { chunk_id: 7, score: 0.2 },
      { id: 'c1', score: 0.3 },
    ];
    const search = (answer: Json, rest: Partial<ToolDefinition<Json, Json>> = {}) =>
      tool(() => answer, { kind: 'retrieval', ...rest });
    const low = await failed(search(weak), request({ query: 'rainfall' }));
    expect(low).toMatchObject({ error_code: 'LOW_CONFIDENCE', query: 'rainfall', chunk_ids: ['7', 'c1', 'c2'] });
    expect(await failed(search([]), request({ q: 'snow' }))).toMatchObject({
      error_code: 'EMPTY_RESULT',
      query: 'snow',
    });
    const good = await succeeded(search([{ id: 'c1', score: 0.9 }]), request({ query: 'rainfall' }));
    expect(good).toMatchObject({ query: 'rainfall' });
    const own = search([], { queryOf: (input) => `about ${JSON.stringify(input)}` });
    expect(await failed(own, request(['x']))).toMatchObject({ query: 'about ["x"]' });
  });

  it('two large sets of chunks have different reports although only some chunks travel', async () => {
    const found = (count: number) => Array.from({ length: count }, (_, n) => ({ id: `chunk-${n}`, score: 0.1 }));
    const search = (count: number) => tool(() => found(count), { kind: 'retrieval' });
    const one = await failed(search(1_000), request({}));
    const other = await failed(search(1_001), request({}));
    expect(one.chunk_ids?.length).toBeLessThan(60);
    expect(one.chunk_ids).not.toEqual(other.chunk_ids);
  });

  it('an attempt reports the feedback in its text, if the tool detects feedback', async () => {
    const report = 'collected 12 items\n\nFAILED tests/test_sum.py::test_totals - assert 3 == 4\n1 failed, 11 passed';
    const runner = tool(() => ({ log: report }), { detect: true });
    const outcome = await succeeded(runner, request({}));
    expect(outcome.detected).toMatchObject({ feedback_type: 'verification_failure' });
    expect(outcome.detected?.signal).toContain('test_totals');
    const silent = tool(() => ({ log: report }));
    expect((await succeeded(silent, request({}))).detected).toBeUndefined();
    const clean = tool(() => 'all 12 tests passed', { detect: true });
    expect((await succeeded(clean, request({}))).detected).toBeUndefined();
    const throws = tool(() => Promise.reject(new Error('TypeError: x is not a function')), { detect: true });
    expect((await failed(throws, request({}))).detected).toMatchObject({ feedback_type: 'runtime_error' });
  });

  it('an attempt reports what a ToolError knows: what was missed, what is denied, which cap', async () => {
    const throws = (error: Error) =>
      tool(() => {
        throw error;
      });
    const env = toolEnvironment();
    const missed = new ToolError('no sources', {
      category: 'validation_grounding',
      missed: ['grounding', 'a'.repeat(999)],
    });
    const outcome = await failed(throws(missed), request({}), env);
    expect(outcome.missed).toEqual(['grounding', 'a'.repeat(200)]);
    expect(env.events('validation_failed')).toEqual([
      expect.objectContaining({ category: 'validation_grounding', exit_code: null, missing: outcome.missed }),
    ]);
    const denied = new ToolError('never there', { category: 'invalid_input', denied: { host: 'bad.example' } });
    expect(await failed(throws(denied), request({}))).toMatchObject({ denied: { host: 'bad.example' } });
    const large = new ToolError('too much', { category: 'unknown_error', code: 'OUTPUT_TOO_LARGE', maxBytes: 5 });
    expect(await failed(throws(large), request({}))).toMatchObject({ error_code: 'OUTPUT_TOO_LARGE', max_bytes: 5 });
    const nonsense = Object.assign(new Error('x'), { missed: 'all', denied: 7, max_bytes: -1 });
    const plain = await failed(throws(nonsense), request({}));
    expect(plain).not.toHaveProperty('missed');
    expect(plain).not.toHaveProperty('denied');
    expect(plain).not.toHaveProperty('max_bytes');
  });
});

describe('constraints of a run', () => {
  const origins = [
    { constraint: 'denied_hosts', failure_id: 'run-1:s1:a1:f0', fingerprint: 'abcdef0123456789' } as const,
  ];
  let calls = 0;
  const counts = tool((input) => {
    calls += 1;
    return input;
  });

  it.each<[string, Json]>([
    ['an address', { url: 'https://evil.example/path?q=1' }],
    ['in capitals, with a port and a final dot', { deep: [{ url: 'HTTP://EVIL.example.:8080/' }] }],
    ['the bare host', { host: 'evil.example' }],
    ['the host with a port', 'evil.example:443'],
    ['with a user before it', 'ftp://user@evil.example/x'],
  ])('refuse a denied host before the call: %s', async (_what, input) => {
    calls = 0;
    const constraints = { denied_hosts: ['evil.example'], origins };
    const outcome = await failed(counts, request(input, { constraints }));
    expect(outcome).toMatchObject({
      category: 'invalid_input',
      error_code: 'DENIED_BY_CONSTRAINT',
      certainty: 'not_started',
    });
    expect(outcome.message_preview).toContain('evil.example');
    expect(outcome.message_preview).toContain('abcdef0123456789');
    expect(calls).toBe(0);
  });

  it('denied hosts are recognized in every notation of a numeric address', async () => {
    const constraints = { denied_hosts: ['127.0.0.1'] };
    for (const url of ['http://2130706433/', 'http://0177.0.0.1/', 'http://0x7f.1/']) {
      expect(await failed(counts, request({ url }, { constraints }))).toMatchObject({ paths: ['$.url'] });
    }
    expect(await succeeded(counts, request({ url: 'http://127.0.0.2/' }, { constraints }))).toMatchObject({
      class: 'ok',
    });
  });

  it('denied hosts do not affect other hosts and longer texts', async () => {
    const constraints = { denied_hosts: ['evil.example'], denied_arguments: ['force'] };
    const input = {
      url: 'https://good.example/?next=evil.example',
      text: 'not evil.example at all',
      nested: { force: 1 },
    };
    expect((await succeeded(counts, request(input, { constraints }))).output).toEqual(input);
  });

  it('a denied argument is refused', async () => {
    const outcome = await failed(counts, request({ force: false }, { constraints: { denied_arguments: ['force'] } }));
    expect(outcome).toMatchObject({ error_code: 'DENIED_BY_CONSTRAINT', paths: ['$.force'] });
  });

  it('an output is shortened until it fits its constraint, and the full output is stored', async () => {
    const env = toolEnvironment();
    const page = { title: 'Report', body: 'ü'.repeat(20_000), rows: ['a', 'b'] };
    const outcome = await succeeded(
      tool(() => page),
      request({}, { constraints: { max_output_bytes: 4_000 } }),
      env,
    );
    expect(outcome.bytes).toBeLessThanOrEqual(4_000);
    expect(outcome.bytes).toBeGreaterThan(3_500);
    const output = outcome.output as typeof page;
    expect(output).toMatchObject({ title: 'Report', rows: ['a', 'b'] });
    expect(output.body).toMatch(/^ü+\n… \d+ bytes left out …\nü+$/);
    expect(JSON.parse(env.text(outcome.kept?.[0]?.artifact_id))).toEqual(page);
    expect(outcome.kept).toMatchObject([{ what: 'output' }]);
  });

  it('an output with short texts loses the ends of its lists', async () => {
    const rows = Array.from({ length: 5_000 }, (_, n) => ({ n }));
    const outcome = await succeeded(
      tool(() => rows),
      request({}, { constraints: { max_output_bytes: 1_000 } }),
    );
    const kept = outcome.output as Json[];
    expect(kept.length).toBeGreaterThan(50);
    expect(kept).toEqual(rows.slice(0, kept.length));
  });

  it('an output that its schema does not allow to be shortened is a failure', async () => {
    const fixed = defineTool({
      name: 'tool',
      effect: 'side_effect',
      input: z.json(),
      output: z.string().length(5_000),
      run: () => 'x'.repeat(5_000),
    });
    const outcome = await failed(fixed, request({}, { constraints: { max_output_bytes: 1_000 } }));
    expect(outcome).toMatchObject({ error_code: 'OUTPUT_TOO_LARGE', max_bytes: 1_000, certainty: 'done' });
  });
});

describe('bad content', () => {
  it('an output over the tool’s own cap is a failure that names the cap', async () => {
    const large = tool(() => 'x'.repeat(11 * 1024 * 1024));
    expect(await failed(large, request({}))).toMatchObject({
      error_code: 'OUTPUT_TOO_LARGE',
      max_bytes: 10 * 1024 * 1024,
      certainty: 'failed',
    });
    const small = tool(() => 'x'.repeat(200), { maxOutputBytes: 100 });
    expect(await failed(small, request({}))).toMatchObject({ error_code: 'OUTPUT_TOO_LARGE', max_bytes: 100 });
  });

  it('an output of ten megabytes goes to the store and only its id travels', async () => {
    const env = toolEnvironment();
    const text = 'y'.repeat(10 * 1024 * 1024 - 2);
    const outcome = await succeeded(
      tool(() => text),
      request({}),
      env,
    );
    expect(outcome).toMatchObject({ inline: false, output: null, bytes: 10 * 1024 * 1024 });
    expect(env.artifacts.get(outcome.artifact_id)?.byteLength).toBe(10 * 1024 * 1024);
  });

  it('NUL, lone surrogates, colours and secrets in a message become clean text', async () => {
    const message = `\u001b[31mError:\u001b[0m bad\0byte \ud800 hunter2-hunter2 ${'😀'.repeat(400)}`;
    const outcome = await failed(
      tool(() => Promise.reject(new Error(message))),
      request({}),
    );
    expect(outcome.message_preview).toMatch(/^Error: bad byte \ufffd \[redacted:known\] 😀/);
    expect(outcome.message_preview.length).toBeLessThanOrEqual(300);
    // Cut between two whole characters.
    expect(outcome.message_preview).not.toMatch(/\p{Surrogate}/u);
  });

  it('NUL, lone surrogates and secrets in an output stay as they were', async () => {
    const env = toolEnvironment();
    const output = { nul: 'a\0b', half: 'x\ud800y', key: 'hunter2-hunter2', fill: 'z'.repeat(10_000) };
    const outcome = await succeeded(
      tool(() => output),
      request({}),
      env,
    );
    expect(JSON.parse(env.text(outcome.artifact_id))).toEqual(output);
  });

  it('a secret that spans lines of a message is not shown in part', async () => {
    const pem = '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----';
    const outcome = await failed(
      tool(() => Promise.reject(new Error(`\n\n${pem}`))),
      request({}),
    );
    expect(outcome.message_preview).toBe('[redacted:private_key]');
  });
});

describe('a tool whose time is up', () => {
  it('a tool that stops at its timeout ends at once; its late answer does not count', async () => {
    const polite = tool(
      (_input, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve('late'));
        }),
    );
    const outcome = await endsAfter(50, () => failed(polite, request({}, { timeout_ms: 50 })));
    expect(outcome).toMatchObject({ category: 'timeout', error_code: 'TIMEOUT', certainty: 'unknown' });
  });

  it('a tool that ignores its signal is given up after three seconds', async () => {
    const deaf = tool(() => new Promise(() => undefined));
    const outcome = await endsAfter(50 + 3_000, () => failed(deaf, request({}, { timeout_ms: 50 })));
    expect(outcome).toMatchObject({ error_code: 'TIMEOUT', certainty: 'unknown' });
  });

  it('a side effect that ignores its signal is waited for until it ends, and the heartbeats say so', async () => {
    const env = toolEnvironment();
    const beats = vi.spyOn(env, 'heartbeat');
    const late = tool(() => new Promise((resolve) => setTimeout(resolve, 20_000, 'late')), { effect: 'side_effect' });
    const outcome = await endsAfter(20_000, () => failed(late, request({}, { timeout_ms: 50 }), env));
    expect(outcome).toMatchObject({ error_code: 'TIMEOUT', certainty: 'unknown' });
    expect(outcome).not.toHaveProperty('still_running');
    expect(beats).toHaveBeenCalledWith({ waiting_for_late_effect: expect.stringMatching(/^step \d+ \(/) });
  });

  it('a side effect that does not stop at all is given up after a minute, and the failure says that it still runs', async () => {
    const deaf = tool(() => new Promise(() => undefined), { effect: 'side_effect' });
    const outcome = await endsAfter(50 + 60_000, () => failed(deaf, request({}, { timeout_ms: 50 })));
    expect(outcome).toMatchObject({ error_code: 'TIMEOUT', certainty: 'unknown', still_running: true });
    expect(outcome.message_preview).toMatch(/gave no answer within 50 ms and was still running 60 s later$/);
  });

  it('a side effect that does not stop with its worker may act until the process has ended', async () => {
    const env = toolEnvironment();
    const deaf = tool(
      () => {
        setImmediate(() => env.stop('shutdown'));
        return new Promise(() => undefined);
      },
      { effect: 'side_effect' },
    );
    const outcome = await failed(deaf, request({}), env);
    expect(outcome).toMatchObject({ error_code: 'WORKER_SHUTDOWN', certainty: 'unknown', may_act_ms: 10_000 });
  });

  it('a tool that knows that nothing was sent says so at its timeout', async () => {
    const connecting = tool(
      (_input, { signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(Object.assign(new Error('gone'), { request_sent: false })));
        }),
    );
    expect(await failed(connecting, request({}, { timeout_ms: 50 }))).toMatchObject({ certainty: 'not_started' });
  });

  it('a tool that is cancelled in the middle ends as cancelled', async () => {
    const env = toolEnvironment();
    const waits = tool((_input, { signal }) => {
      setImmediate(() => env.stop('cancelled'));
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
    });
    expect(await executeTool(waits, request({}), env)).toMatchObject({ class: 'cancelled' });
  });
});

describe('what a failed call was about', () => {
  const refused = () => {
    throw new ToolError('no', { category: 'invalid_input' });
  };
  const retrieval = { kind: 'retrieval' } as const;

  it('the ids in its input and its output are named, each once and without secrets', async () => {
    const input = { queryId: 17, chunk_ids: ['c2', 'c1'], span: [3, 9] };
    const results: Json[] = [{ id: 'c1', evidenceId: 'e1', score: 0 }, { chunk_id: 'c3' }, 'c4', { id: null }];
    const { refs } = await failed(
      tool(() => ({ results }), retrieval),
      request(input),
    );
    expect(refs).toEqual({ query_id: '17', chunk_ids: ['c1', 'c3', 'c2'], evidence_ids: ['e1'], span: [3, 9] });
    const secret = `sk-${'a1B2c3D4'.repeat(5)}`;
    const hidden = await failed(tool(refused), request({ query_id: secret, evidence_ids: [] }));
    expect(hidden.refs?.query_id).not.toContain(secret);
    expect(hidden.refs).toEqual({ query_id: expect.any(String) });
  });

  it('the ids that the tool itself names come first, and a tool that cannot name them fails for its own reason', async () => {
    const contextRefs = () => ({ queryId: 'own', evidenceIds: Array.from({ length: 30 }, (_, n) => `e${n}`) });
    const own = await failed(tool(refused, { contextRefs }), request({ query_id: 'theirs', chunk_id: 'c1' }));
    expect(own.refs).toMatchObject({ query_id: 'own', chunk_ids: ['c1'] });
    expect(own.refs?.evidence_ids).toHaveLength(20);
    const broken = await failed(tool(refused, { contextRefs: () => JSON.parse('{') as object }), request({}));
    expect(broken).toMatchObject({ message_preview: 'no' });
    expect(broken.refs).toBeUndefined();
  });

  it('the results of a tool that is no retrieval are no chunks, and a success names nothing', async () => {
    const orders = { results: [{ id: 'order-1' }] };
    const output = z.strictObject({ a: z.string() }) as unknown as z.ZodType<Json>;
    expect(
      (
        await failed(
          tool(() => orders, { output }),
          request({}),
        )
      ).refs,
    ).toBeUndefined();
    expect(
      await succeeded(
        tool(() => orders),
        request({ query_id: 'q' }),
      ),
    ).not.toHaveProperty('refs');
  });

  it('equal queries have equal ids', async () => {
    const idOf = async (query: string) =>
      (
        await failed(
          tool(() => [], retrieval),
          request({ query }),
        )
      ).refs?.query_id;
    expect(await idOf('red shoes')).toBe(await idOf('red shoes'));
    expect(await idOf('red shoes')).not.toBe(await idOf('blue shoes'));
  });
});
