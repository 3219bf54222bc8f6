/**
 * Command tools with real processes, on this machine's /proc. What holds only with PID namespaces is tested where the
 * system allows them; what is promised without them is tested everywhere.
 */
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { executeTool } from '../../../src/activities/tools/execute-tool.ts';
import type { Tool } from '../../../src/define/define-tool.ts';
import type { CommandOutput } from '../../../src/define/command/command-output.ts';
import { commandTool } from '../../../src/define/command/command-tool.ts';
import type { CommandOptions } from '../../../src/define/command/definition.ts';
import { isolation } from '../../../src/define/command/process-isolation.ts';
import { processesNamed } from '../../support/processes.ts';
import { program } from '../../support/programs.ts';
import { failed, request, succeeded, toolEnvironment } from '../../support/tool-environment.ts';

const scratch = mkdtempSync(join(tmpdir(), 'secondwind-test-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
let namespaces = false;
beforeAll(async () => {
  namespaces = (await isolation()).kind === 'pid_namespace';
});

type Rest = Partial<CommandOptions<unknown, CommandOutput>>;
/** A tool that runs a script with sh, given as an argument: no shell reads it first. */
const script = (text: string, rest: Rest = {}): Tool =>
  commandTool({ name: 'tool', effect: 'read', input: z.unknown(), argv: () => ['sh', '-c', text], ...rest });
const output = async (tool: Tool, input: string | object = {}): Promise<CommandOutput> =>
  (await succeeded(tool, request(input as never))).output as CommandOutput;

/** What a busy machine may take to start and to end a process. Without an end from us these commands run for ever. */
const SLACK_MS = 5_000;

let markers = 0;
const newMarker = (): string => `secondwind-marker-${process.pid}-${(markers += 1)}`;
const tick = () => new Promise((resolve) => setTimeout(resolve, 20));
async function untilGone(marker: string, ms: number): Promise<number[]> {
  const until = Date.now() + ms;
  while (processesNamed(marker).length > 0 && Date.now() < until) await tick();
  return processesNamed(marker);
}

describe('a command', () => {
  it('a command returns its exit code and its output', async () => {
    expect(await output(script('echo out; echo err >&2'))).toEqual({
      exit_code: 0,
      stdout: 'out\n',
      stderr: 'err\n',
      truncated: false,
      stdout_bytes: 4,
      stderr_bytes: 4,
    });
  });

  it('a command gets its arguments unchanged, because no shell interprets them', async () => {
    const echo = commandTool({
      name: 'tool',
      effect: 'read',
      input: z.object({ words: z.array(z.string()) }),
      argv: ({ words }) => ['printf', '%s|', ...words],
    });
    const words = ['$(touch /tmp/never)', '; rm -rf /', '*', '', 'a b', '-n', '"\''];
    expect((await output(echo, { words })).stdout).toBe(`${words.join('|')}|`);
  });

  it('a command is interpreted by a shell only if the tool declares `shell`', async () => {
    const shell = commandTool({
      name: 'tool',
      effect: 'read',
      input: z.unknown(),
      shell: () => 'echo $((1 + 1)) | tr 2 3',
    });
    expect((await output(shell)).stdout).toBe('3\n');
  });

  it('a command tool needs exactly one of argv and shell', () => {
    const both = {
      name: 'tool',
      effect: 'read',
      input: z.unknown(),
      argv: () => ['true'],
      shell: () => 'true',
    } as const;
    expect(() => commandTool(both as never)).toThrow('either argv or shell');
  });

  it('a command returns JSON if an output is declared', async () => {
    const json = (text: string) =>
      commandTool({
        name: 'tool',
        effect: 'read',
        input: z.unknown(),
        output: z.object({ n: z.number() }),
        argv: () => ['echo', text],
      });
    expect((await succeeded(json('{"n": 1}'), request({}))).output).toEqual({ n: 1 });
    expect(await failed(json('{"n": "x"}'), request({}))).toMatchObject({
      error_code: 'INVALID_OUTPUT',
      paths: ['$.n'],
    });
    expect(await failed(json('not json'), request({}))).toMatchObject({
      category: 'contract_violation',
      error_code: 'STDOUT_NOT_JSON',
    });
    const any = commandTool({
      name: 'tool',
      effect: 'read',
      input: z.unknown(),
      output: 'json',
      argv: () => ['echo', '[1]'],
    });
    expect((await succeeded(any, request({}))).output).toEqual([1]);
  });

  it('an accepted exit code is an answer that carries the code and the output', async () => {
    expect(await output(script('echo "1 failed"; exit 1', { accepts: [0, 1] }))).toMatchObject({
      exit_code: 1,
      stdout: '1 failed\n',
    });
    expect(await output(script('true', { accepts: [0, 1] }))).toMatchObject({ exit_code: 0 });
    expect(await failed(script('exit 2', { accepts: [0, 1] }), request({}))).toMatchObject({ error_code: 'EXIT_2' });
    const killed = await failed(script('kill -KILL $$', { accepts: [0, 1] }), request({}));
    expect(killed).toMatchObject({ certainty: 'unknown' });
    const paid = script('exit 1', { accepts: [0, 1], effect: 'side_effect' });
    expect(await output(paid)).toMatchObject({ exit_code: 1 });
    expect(await failed(script('exit 3', { accepts: [0, 1], effect: 'side_effect' }), request({}))).toMatchObject({
      certainty: 'unknown',
    });
  });

  it('an accepted code of a long output comes with the failing lines in short', async () => {
    const noise = 'for i in $(seq 2000); do echo "ok $i - works"; done';
    const tests = script(`${noise}; echo "not ok 7 - adds"; ${noise}; exit 1`, { accepts: [0, 1] });
    const env = toolEnvironment();
    const { artifact_id } = await succeeded(tests, request({}), env);
    expect((JSON.parse(env.text(artifact_id)) as CommandOutput).salient).toContain('not ok 7 - adds');
    expect(await output(script('echo short; exit 1', { accepts: [0, 1] }))).not.toHaveProperty('salient');
  });

  it('accepts is refused if it cannot be meant', () => {
    const accepting = (accepts: number[], rest: Rest = {}) => script('true', { accepts, ...rest });
    expect(() => accepting([0, 256])).toThrow('256; an exit code is an integer from 0 to 125');
    expect(() => accepting([0, 1.5])).toThrow('1.5');
    expect(() => accepting([0, 137])).toThrow('137');
    expect(() => accepting([1])).toThrow('has to contain 0');
    expect(() => accepting([0, 1], { refusals: [1] })).toThrow('in accepts and in refusals');
    expect(() => accepting([0, 1], { protocol: true })).toThrow('cannot be used with protocol');
    expect(() => accepting([0], { protocol: true })).not.toThrow();
  });

  it('a failed command tells what it printed, and whether it failed as before', async () => {
    const noise = 'for i in $(seq 2000); do echo "ok $i - works"; done';
    const tests = script(`${noise}; echo "not ok 7 - adds"; ${noise}; exit 1`);
    const [one, other] = [await failed(tests, request({})), await failed(tests, request({}))];
    expect(one.output?.text).toContain('not ok 7 - adds');
    expect(Buffer.byteLength(one.output?.text ?? '')).toBeLessThanOrEqual(8 * 1024);
    expect(one.result_hash).toMatch(/^[0-9a-f]{64}$/);
    expect(other.result_hash).toBe(one.result_hash);
    // A signal, a program that does not exist and a cause that passes say nothing about the next attempt.
    for (const passing of ['kill -KILL $$', 'echo "connection refused" >&2; exit 1']) {
      expect((await failed(script(passing), request({}))).result_hash).toBeUndefined();
    }
    const missing = commandTool({ name: 'tool', effect: 'read', input: z.unknown(), argv: () => ['no-such-program'] });
    expect((await failed(missing, request({}))).result_hash).toBeUndefined();
  });

  it('a command that runs out of time tells what it printed so far', async () => {
    const slow = script('echo "step 1 is done"; exec sleep 60');
    expect(await failed(slow, request({}, { timeout_ms: 1_000 }))).toMatchObject({
      error_code: 'TIMEOUT',
      output: { text: 'step 1 is done' },
    });
  });

  it('a command may read its stdin or ignore it', async () => {
    const text = 'x'.repeat(300_000);
    expect((await output(script('wc -c', { stdin: () => text }))).stdout.trim()).toBe('300000');
    expect((await output(script('exec true', { stdin: () => text }))).exit_code).toBe(0);
    expect((await output(script('wc -c'))).stdout.trim()).toBe('0');
  });

  it('a command runs in the folder that the tool names', async () => {
    expect((await output(script('pwd -P', { cwd: scratch }))).stdout.trim()).toBe(scratch);
    expect(await failed(script('pwd', { cwd: '/no/such/folder' }), request({}))).toMatchObject({
      category: 'invalid_input',
      certainty: 'not_started',
    });
  });

  it('a command gets only harmless, allowed and set environment variables', async () => {
    process.env['SECONDWIND_TEST_SECRET'] = 'do-not-tell';
    process.env['SECONDWIND_TEST_ALLOWED'] = 'yes';
    try {
      const env = { allow: ['SECONDWIND_TEST_ALLOWED'], set: { MORE: 'more' } };
      const names = (await output(script('env', { env }))).stdout.split('\n').map((line) => line.split('=')[0] ?? '');
      const harmless = ['PATH', 'HOME', 'LANG', 'TZ', 'TMPDIR'].filter((name) => process.env[name] !== undefined);
      const own = ['ATTEMPT', 'IDEMPOTENCY_KEY', 'FENCE', 'REPORT_DIR', 'GUIDANCE_FILE'].map(
        (name) => `SECONDWIND_${name}`,
      );
      // A shell sets these by itself.
      const ofShells = new Set(['', 'PWD', 'OLDPWD', 'SHLVL', '_']);
      expect(names.filter((name) => !ofShells.has(name)).sort()).toEqual(
        [...harmless, ...own, 'SECONDWIND_TEST_ALLOWED', 'MORE'].sort(),
      );
    } finally {
      delete process.env['SECONDWIND_TEST_SECRET'];
      delete process.env['SECONDWIND_TEST_ALLOWED'];
    }
  });

  it('a command gets its attempt, its idempotency key and its guidance', async () => {
    const tells = script('echo $SECONDWIND_ATTEMPT $SECONDWIND_IDEMPOTENCY_KEY; cat $SECONDWIND_GUIDANCE_FILE');
    const asked = request({}, { attempt: 3, guidance: { rows: [], text: 'If it rains, then take a coat.' } });
    const { stdout } = (await succeeded(tells, asked)).output as CommandOutput;
    expect(stdout).toBe('3 run-1:1\nIf it rains, then take a coat.');
  });
});

describe('the prompt of a command', () => {
  const evaluator = (file: boolean) =>
    commandTool({
      name: 'tool',
      effect: 'read',
      input: z.object({ essay: z.string() }),
      prompt: { text: ({ essay }) => `Rate: ${essay}`, ...(file ? { file: true as const } : {}), provider: 'google' },
      argv: (_input, { prompt, promptFile }) =>
        file
          ? ['sh', '-c', 'cat "$1"; echo; echo "$1" "$SECONDWIND_PROMPT_FILE"', 'sh', promptFile]
          : ['printf', '%s', prompt],
    });

  it('the prompt of a command is passed as text or as a file', async () => {
    expect((await output(evaluator(false), { essay: 'On rain' })).stdout).toBe('Rate: On rain');
    expect((await output(evaluator(true), { essay: 'On rain' })).stdout).toMatch(
      /^Rate: On rain\n\S*prompt-attempt-1\.txt/,
    );
  });

  it('the prompt file of a command is new in each attempt, says on a retry what was missed, and is deleted afterwards', async () => {
    const retry_context = { category: 'validation_grounding' as const, retry: 1, missed: ['grounding'] };
    const first = await output(evaluator(true), { essay: 'x' });
    const second = await succeeded(evaluator(true), request({ essay: 'x' }, { attempt: 2, retry_context }));
    const words = (second.output as CommandOutput).stdout;
    expect(words).toContain('MUST use Google Search');
    const fileOf = (text: string) => text.trim().split('\n').at(-1)?.split(' ') ?? [];
    const [given = '', named] = fileOf(words);
    expect(named).toBe(given);
    expect(given).not.toBe(fileOf(first.stdout)[0]);
    expect(existsSync(given)).toBe(false);
    expect(second.prompt?.diff_id).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe('how a command failed', () => {
  it.each<[string, string, object]>([
    [
      'by its words',
      'echo "curl: (22) The requested URL returned error: 503" >&2; exit 22',
      { category: 'server_error', error_code: 'EXIT_22', certainty: 'failed' },
    ],
    ['by the custom of its code', 'exit 77', { category: 'auth', error_code: 'EXIT_77' }],
    [
      'with a code that says nothing',
      'exit 3',
      { category: 'unknown_error', error_code: 'EXIT_3', certainty: 'failed', message_preview: 'exit code 3' },
    ],
    [
      'ended by a signal from outside',
      'kill -KILL $$',
      { category: 'unknown_error', error_code: 'SIGKILL', certainty: 'unknown', message_preview: 'ended by SIGKILL' },
    ],
    [
      'with the last line of a traceback',
      'echo "Traceback (most recent call last):\n  File \\"x.py\\", line 1\nValueError: no rows" >&2; exit 1',
      { message_preview: 'ValueError: no rows' },
    ],
    ['with the complaint on stdout', 'echo "Error: no config"; exit 9', { message_preview: 'Error: no config' }],
  ])('a command that fails is classified: %s', async (_how, text, expected) => {
    expect(await failed(script(text), request({}))).toMatchObject(expected);
    // The same failure without a namespace is the same failure.
    expect(await failed(script(text, { ownNamespace: false }), request({}))).toMatchObject(expected);
  });

  it.each<[string, string[]]>([
    ['a program that is not there', ['no-such-program-here']],
    ['a path that is not there', ['/no/such/program']],
    ['a file that is no program', [join(scratch, 'plain.txt')]],
    ['a folder', [scratch]],
  ])('%s fails with the certainty not_started', async (_what, argv) => {
    writeFileSync(join(scratch, 'plain.txt'), 'x');
    const tool = commandTool({ name: 'tool', effect: 'side_effect', input: z.unknown(), argv: () => argv });
    expect(await failed(tool, request({}))).toMatchObject({ category: 'invalid_input', certainty: 'not_started' });
  });

  it.each([[[]], [['']], [['echo', 'a\0b']]])('the arguments %j of a command are refused', async (argv) => {
    const tool = commandTool({ name: 'tool', effect: 'read', input: z.unknown(), argv: () => argv });
    expect(await failed(tool, request({}))).toMatchObject({ error_code: 'BAD_ARGUMENTS', certainty: 'not_started' });
  });

  it('a failed command stores its whole output, and the feedback in it is detected', async () => {
    const env = toolEnvironment();
    const text =
      'echo "FAIL src/sum.test.ts > adds up"; echo "AssertionError: expected 3 to equal 4"; echo "password=hunter2-hunter2" >&2; exit 1';
    const outcome = await failed(script(text), request({}), env);
    expect(outcome.detected).toMatchObject({ feedback_type: 'verification_failure' });
    const kept = Object.fromEntries((outcome.kept ?? []).map(({ what, artifact_id }) => [what, env.text(artifact_id)]));
    expect(kept['stdout']).toContain('expected 3 to equal 4');
    expect(kept['stderr']).toBe('password=hunter2-hunter2\n');
  });
});

describe('what a command prints', () => {
  it('the output of a command is kept from its start and its end, however long it is', async () => {
    const { stdout, truncated, stdout_bytes } = await output(
      script('echo first; yes | head -c 3000000; echo last', { maxOutputBytes: 1_000 }),
    );
    expect(stdout).toMatch(/^first\n[^]*… 2999011 bytes left out …[^]*last\n$/);
    expect(stdout.length).toBeLessThan(1_100);
    expect({ truncated, stdout_bytes }).toEqual({ truncated: true, stdout_bytes: 3_000_011 });
  });

  it('the output of a command is never cut inside a character', async () => {
    const { stdout } = await output(script('yes ü | head -c 30000 | tr -d "\\n"', { maxOutputBytes: 1_001 }));
    expect(stdout).toMatch(/^ü+\n… \d+ bytes left out …\nü+$/);
  });

  it('the output of a command that is not text is shown as far as possible, and stored as bytes', async () => {
    const env = toolEnvironment();
    const outcome = await succeeded(script(String.raw`printf 'a\377b\000\033[31mred'`), request({}), env);
    expect((outcome.output as CommandOutput).stdout).toBe('a\uFFFDb\0\u001b[31mred');
    const [kept] = outcome.kept ?? [];
    expect(kept).toMatchObject({ what: 'stdout', bytes: 12 });
    expect(env.artifacts.get(kept?.artifact_id ?? '')).toEqual(Buffer.from('a\xffb\0\x1b[31mred', 'latin1'));
  });

  it('the output of a command is stored and passed on exactly, although it contains a secret', async () => {
    const env = toolEnvironment();
    const outcome = await succeeded(script(String.raw`printf '\377 hunter2-hunter2 \376'`), request({}), env);
    expect(outcome.output).toMatchObject({ stdout: '\ufffd hunter2-hunter2 \ufffd' });
    const kept = env.artifacts.get(outcome.kept?.[0]?.artifact_id ?? '');
    expect(kept).toEqual(Buffer.from('\xff hunter2-hunter2 \xfe', 'latin1'));
  });

  it('a command may print ten megabytes of NUL', async () => {
    const env = toolEnvironment();
    const outcome = await succeeded(script('head -c 10485760 /dev/zero'), request({}), env);
    expect(outcome).toMatchObject({ inline: false });
    expect(env.artifacts.has(outcome.artifact_id)).toBe(true);
  });
});

describe('a command that does not want to end', { timeout: 20_000 }, () => {
  const cases: [string, (marker: string) => string][] = [
    [
      'forks',
      (marker) => `sh -c 'while :; do sleep 1; done' ${marker} & sh -c 'while :; do sleep 1; done' ${marker} & wait`,
    ],
    ['ignores SIGTERM', (marker) => `exec sh -c 'trap "" TERM; while :; do sleep 1; done' ${marker}`],
    ['never stops writing', (marker) => `exec yes ${marker}`],
    ['never stops writing, and ignores SIGTERM', (marker) => `trap "" TERM; exec yes ${marker}`],
  ];
  const daemon = (marker: string) => `setsid sh -c 'trap "" TERM HUP; while :; do sleep 1; done' ${marker} & sleep 60`;

  it.each(cases)(
    'a command that does not stop is killed within its timeout and 2 s, with a namespace and without: %s',
    async (_what, textOf) => {
      const endsWith = async (ownNamespace: boolean): Promise<void> => {
        const marker = newMarker();
        const started = Date.now();
        const text = `touch ${join(scratch, marker)}; ${textOf(marker)}`;
        const outcome = await failed(script(text, { ownNamespace }), request({}, { timeout_ms: 1_000 }));
        expect(existsSync(join(scratch, marker))).toBe(true);
        expect(outcome).toMatchObject({ category: 'timeout', error_code: 'TIMEOUT', certainty: 'unknown' });
        expect(await untilGone(marker, started + 1_000 + 2_000 + SLACK_MS - Date.now())).toEqual([]);
      };
      await Promise.all([endsWith(true), endsWith(false)]);
    },
  );

  it('a command that detaches itself is killed too if the system has PID namespaces', async () => {
    const marker = newMarker();
    const env = toolEnvironment();
    const outcome = await failed(script(daemon(marker)), request({}, { timeout_ms: 500 }), env);
    expect(outcome).toMatchObject({ error_code: 'TIMEOUT' });
    const left = await untilGone(marker, 3_000);
    for (const pid of left) process.kill(pid, 'SIGKILL');
    expect(left.length === 0).toBe(namespaces);
    // Where it is not, the log says so.
    expect(env.events('no_pid_namespace').length > 0).toBe(!namespaces);
  });

  const HELD_OPEN_MS = 30_000;
  it('a process that a command leaves behind with its stdout open is not waited for', async () => {
    for (const ownNamespace of [true, false]) {
      const marker = newMarker();
      const started = Date.now();
      const text = `setsid sh -c 'sleep ${HELD_OPEN_MS / 1_000}; :' ${marker} & echo done`;
      expect((await output(script(text, { ownNamespace }))).stdout).toBe('done\n');
      expect(Date.now() - started).toBeLessThan(HELD_OPEN_MS / 2);
      for (const pid of processesNamed(marker)) process.kill(pid, 'SIGKILL');
    }
  });

  it('a command gets SIGTERM before it is killed', async () => {
    const file = join(scratch, 'asked');
    const text = `trap 'echo bye > ${file}; exit 0' TERM; while :; do sleep 0.05; done`;
    for (const ownNamespace of [true, false]) {
      rmSync(file, { force: true });
      await failed(script(text, { ownNamespace }), request({}, { timeout_ms: 300 }));
      expect(readFileSync(file, 'utf8')).toBe('bye\n');
    }
  });

  it.each(['cancelled', 'shutdown'] as const)('a command is stopped with its run or its worker (%s)', async (why) => {
    const env = toolEnvironment();
    const marker = newMarker();
    const running = executeTool(
      script(`exec sh -c 'trap "" TERM; while :; do sleep 1; done' ${marker}`),
      request({}),
      env,
    );
    await expect.poll(() => processesNamed(marker).length).toBeGreaterThan(0);
    env.stop(why);
    const outcome = await running;
    expect(outcome).toMatchObject(why === 'cancelled' ? { class: 'cancelled' } : { error_code: 'WORKER_SHUTDOWN' });
    expect(await untilGone(marker, 1_000)).toEqual([]);
  });

  it('the output of a command before its timeout is stored', async () => {
    const env = toolEnvironment();
    const outcome = await failed(script('echo half way; sleep 60'), request({}, { timeout_ms: 300 }), env);
    expect(env.text(outcome.kept?.[0]?.artifact_id)).toBe('half way\n');
  });
});

describe('the protocol', () => {
  const speaks = (text: string, rest: Rest = {}) => script(text, { protocol: true, ...rest });
  const report = (json: string) => `printf '%s' '${json}' > "$SECONDWIND_REPORT_DIR/x-FAILURE-REPORT.json"`;

  it.each<[number, string]>([
    [1, 'validation_grounding'],
    [2, 'validation_reasoning'],
    [3, 'validation_both'],
    [4, 'validation_unknown'],
    [5, 'unknown_error'],
  ])('with the protocol, exit code %i is %s', async (code, category) => {
    const env = toolEnvironment();
    const outcome = await failed(speaks(`exit ${code}`), request({}), env);
    expect(outcome).toMatchObject({ category, error_code: `EXIT_${code}`, certainty: 'failed' });
    expect(env.events('validation_failed').map((line) => line['exit_code'])).toEqual(code === 5 ? [] : [code]);
  });

  it('the exit codes of the protocol have no meaning without `protocol`', async () => {
    expect(await failed(script('exit 1'), request({}))).toMatchObject({ category: 'unknown_error' });
    expect((await output(script(report('{"missing": ["grounding"]}')))).exit_code).toBe(0);
  });

  it('the protocol makes the steps of the tool count in the retry monitors', () => {
    expect(speaks('true').manifest.evaluates).toBe(true);
    expect(script('true').manifest.evaluates).toBe(false);
  });

  it.each<[string, string, number, string]>([
    ['grounding', '{"missing": ["Grounding metadata"]}', 1, 'validation_grounding'],
    ['reasoning', '{"missing": ["no reasoning section"]}', 2, 'validation_reasoning'],
    ['both', '{"missing": ["grounding", "reasoning"]}', 3, 'validation_both'],
    ['neither', '{"missing": ["a title"]}', 4, 'validation_unknown'],
    ['half written', '{"missing": ["groun', 4, 'contract_violation'],
    ['not JSON', 'oops', 4, 'contract_violation'],
    ['of another form', '{"missing": "grounding"}', 4, 'contract_violation'],
  ])('a failure report with exit code 0 counts: %s', async (_what, json, code, category) => {
    const env = toolEnvironment();
    const outcome = await failed(speaks(`${report(json)}; exit 0`), request({}), env);
    expect(outcome).toMatchObject({ category, error_code: `EXIT_${code}`, certainty: 'failed' });
    expect(env.events('report_override')).toEqual([
      expect.objectContaining({ report: 'x-FAILURE-REPORT.json', exit_code_before: 0, exit_code: code, category }),
    ]);
    expect(env.events('validation_failed')).toHaveLength(1);
  });

  it('a failure report over 1 MB counts as unreadable', async () => {
    const large = 'head -c 1048577 /dev/zero > "$SECONDWIND_REPORT_DIR/x-FAILURE-REPORT.json"';
    expect(await failed(speaks(large), request({}))).toMatchObject({
      category: 'contract_violation',
      error_code: 'EXIT_4',
    });
  });

  it('with another exit code the category stays, and the failure report says what was missing', async () => {
    const outcome = await failed(
      speaks(`${report('{"missing": ["reasoning: why this score"]}')}; exit 1`),
      request({}),
    );
    expect(outcome).toMatchObject({ category: 'validation_grounding', missed: ['reasoning: why this score'] });
  });

  it.each<[string, string, string]>([
    [
      'a symlink',
      'echo \'{"missing": []}\' > real; ln -s "$PWD/real" "$SECONDWIND_REPORT_DIR/x-FAILURE-REPORT.json"',
      'not_a_regular_file',
    ],
    ['a FIFO', 'mkfifo "$SECONDWIND_REPORT_DIR/x-FAILURE-REPORT.json"', 'not_a_regular_file'],
    ['a folder', 'mkdir "$SECONDWIND_REPORT_DIR/x-FAILURE-REPORT.json"', 'not_a_regular_file'],
    [
      'an older one',
      `${report('{"missing": []}')}; touch -d '1 hour ago' "$SECONDWIND_REPORT_DIR/x-FAILURE-REPORT.json"`,
      'older_than_attempt',
    ],
    [
      'one from the future',
      `${report('{"missing": []}')}; touch -d '1 hour' "$SECONDWIND_REPORT_DIR/x-FAILURE-REPORT.json"`,
      'later_than_attempt',
    ],
    ["another step's", report('{"missing": ["grounding"], "idempotency_key": "run-2:1"}'), 'other_run'],
  ])('%s in the report folder is ignored with a warning, and nothing hangs', async (_what, text, because) => {
    const env = toolEnvironment();
    await succeeded(speaks(text, { cwd: mkdtempSync(join(scratch, 'cwd-')) }), request({}), env);
    expect(env.events('report_ignored')).toEqual([
      expect.objectContaining({ report: 'x-FAILURE-REPORT.json', because }),
    ]);
  });

  it('a report folder that was replaced by a link is not read', async () => {
    const other = mkdtempSync(join(scratch, 'other-'));
    writeFileSync(join(other, 'x-FAILURE-REPORT.json'), '{"missing": ["grounding"]}');
    utimesSync(join(other, 'x-FAILURE-REPORT.json'), new Date(), new Date());
    const text = `rmdir "$SECONDWIND_REPORT_DIR"; ln -s ${other} "$SECONDWIND_REPORT_DIR"`;
    expect((await output(speaks(text))).exit_code).toBe(0);
  });

  describe('with a folder that others write to as well', () => {
    const folder = () => {
      const path = mkdtempSync(join(scratch, 'shared-'));
      symlinkSync('/etc/passwd', join(path, 'unrelated.json'));
      return path;
    };

    it('in a shared folder, a report within 5 s after the end counts', { timeout: 15_000 }, async () => {
      const reportDir = folder();
      const running = failed(speaks('touch "$SECONDWIND_REPORT_DIR/ended"', { reportDir }), request({}));
      await expect.poll(() => existsSync(join(reportDir, 'ended'))).toBe(true);
      // Somebody else's process, half-way through its report at the first look.
      writeFileSync(join(reportDir, 'late-FAILURE-REPORT.json'), '{"missing": ["reas');
      setTimeout(() => writeFileSync(join(reportDir, 'late-FAILURE-REPORT.json'), '{"missing": ["reasoning"]}'), 1_000);
      expect(await running).toMatchObject({ category: 'validation_reasoning', missed: ['reasoning'] });
    });

    it('in a shared folder, the newest report of this attempt counts', async () => {
      const reportDir = folder();
      const put = (name: string, what: string, mtime: number) => {
        const path = join(reportDir, `${name}-FAILURE-REPORT.json`);
        writeFileSync(path, JSON.stringify({ missing: [what] }));
        utimesSync(path, mtime, mtime);
        return path;
      };
      put('old', 'grounding', Date.now() / 1000 - 60);
      const rest = { reportDir, reportGraceMs: 0 };
      expect((await output(speaks('true', rest))).exit_code).toBe(0);
      put('first', 'grounding', Date.now() / 1000 + 1);
      put('second', 'reasoning', Date.now() / 1000 + 2);
      expect(await failed(speaks('true', rest), request({}))).toMatchObject({ category: 'validation_reasoning' });
      // Only root can give a file away.
      const isRoot = process.getuid?.() === 0;
      if (isRoot) chownSync(join(reportDir, 'second-FAILURE-REPORT.json'), 65_534, 65_534);
      const counts = isRoot ? 'validation_grounding' : 'validation_reasoning';
      expect(await failed(speaks('true', rest), request({}))).toMatchObject({ category: counts });
    });

    it('a shared folder that does not exist has no report', async () => {
      expect((await output(speaks('true', { reportDir: join(scratch, 'nowhere'), reportGraceMs: 0 }))).exit_code).toBe(
        0,
      );
    });
  });
});

describe('a worker that is killed', () => {
  it('the commands of a killed worker end too if the system has PID namespaces', { timeout: 20_000 }, async () => {
    const marker = newMarker();
    const entry = pathToFileURL(program('src/define/command/command-tool.ts')).href;
    const code = `const { commandTool } = await import(${JSON.stringify(entry)});
      const { z } = await import(${JSON.stringify(import.meta.resolve('zod'))});
      const tool = commandTool({ name: 't', effect: 'read', input: z.unknown(), argv: () => ['sh', '-c', 'while :; do sleep 1; done', ${JSON.stringify(marker)}] });
      const nothing = () => undefined;
      setTimeout(() => process.kill(process.pid, 'SIGKILL'), 1500);
      await tool.run({}, { guidance: { rows: [], text: '' }, attempt: 1, constraints: {}, idempotencyKey: 'k', fence: 1, stepId: 1, throwIfExpired: nothing, signal: new AbortController().signal,
        heartbeat: nothing, changed: nothing, enhance: async (text) => text, log: nothing, keep: async () => null });`;
    const args = ['--input-type=module', '-e', code];
    // Killed, it cannot tidy up: what it leaves goes with the test's own folder.
    const env = { ...process.env, TMPDIR: scratch };
    expect(spawnSync(process.execPath, args, { stdio: 'ignore', env, timeout: 15_000 }).signal).toBe('SIGKILL');
    const left = (await untilGone(marker, 2_000)).length;
    for (const pid of processesNamed(marker)) process.kill(pid, 'SIGKILL');
    expect(left === 0).toBe(namespaces);
  });
});
