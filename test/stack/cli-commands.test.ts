/** The commands that ask the API, as processes of their own against one `secondwind dev`. Linux, binaries in the cache. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createTestDatabase } from '../support/stack.ts';
import { runAsAdmin, urlOfDatabase } from '../support/template-database.ts';
import { type Command, launch, runCommand, startCommand } from './cli-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'secondwind-test-cli-'));
const dataDir = join(folder, 'data');
let dev: Command;
let url: string;

beforeAll(async () => {
  dev = launch(['dev', '--no-demo', '--port', '0', '--data-dir', dataDir]);
  url = (await dev.line(/^ready (http:\S+)$/))[1] ?? '';
}, 120_000);
afterAll(async () => {
  dev.signal('SIGINT');
  await dev.exited;
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

const file = (name: string, value: unknown): string => {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify(value));
  return path;
};
const step = (input: object) => ({ steps: [{ phase: 'work', tool: 'demo.flaky', input }] });
const quick = file('quick.json', { retry: { base_ms: 1 } });
const asking = file('asking.json', step({ fail_times: 9, error_code: 'auth' }));
const failing = file('failing.json', step({ fail_times: 9 }));

const cli = (...args: string[]) => runCommand(args, { SECONDWIND_DATA_DIR: dataDir });
async function json<T = Record<string, unknown>>(...args: string[]): Promise<T & { code: number | null }> {
  const { code, stdout } = await cli(...args, '--json');
  const last = stdout.trim().split('\n').at(-1) ?? '';
  return { ...(JSON.parse(last) as T), code };
}
let ids = 0;
const newId = (name: string): string => `cli-${name}-${(ids += 1)}`;

describe.skipIf(process.platform !== 'linux')('the command line', { timeout: 120_000 }, () => {
  it('run starts an agent, prints its events as plain lines, and exits with the code of the outcome', async () => {
    const id = newId('ok');
    const { code, stdout, stderr } = await cli(
      'run',
      'demo',
      'try it',
      '--policy',
      quick,
      '--run-id',
      id,
      '--label',
      id,
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = stdout.trim().split('\n');
    expect(lines[0]).toMatch(new RegExp(`^${id} has started. At most \\d+ attempts`));
    const end = lines.findIndex((line) => line.startsWith('completed: '));
    const { result } = await json<{ result: { output: unknown } }>('status', id);
    expect(JSON.parse(lines.slice(end + 1).join('\n'))).toEqual(result.output);
    expect(stdout).toContain('✗ attempt 1 of step 1: HTTP_503');
    expect(stdout).toContain('guidance');
    expect(stdout).toContain('✓ attempt 2 of step 1');
    // oxlint-disable-next-line no-control-regex -- colours and cursor moves are for terminals
    expect(stdout).not.toMatch(/[\u001b\r]/);

    const [status, runs, failures, guidance, steps] = await Promise.all([
      json<{ outcome: string }>('status', id),
      json<{ runs: { run_id: string }[] }>('runs', '--label', id),
      json<{ failures: object[] }>('failures', id),
      cli('guidance', id),
      json<{ guidance: string }>('guidance', id, '--step', '1', '--attempt', '2'),
    ]);
    expect(status).toMatchObject({ code: 0, outcome: 'completed', run_id: id });
    expect(runs.runs.map((run) => run.run_id)).toEqual([id]);
    expect(failures.failures).toHaveLength(1);
    expect(guidance).toMatchObject({ code: 0, stdout: `${steps.guidance}\n` });
    expect((await cli('runs', '--search', id.toUpperCase())).stdout).toContain(id);
    expect((await cli('runs', '--search', `${id}-nothing`)).stdout).toBe('No run fits.\n');
    expect((await cli('runs', '--label', id)).stdout).toMatch(new RegExp(`^RUN .*\n${id}  demo {3}completed `));
    expect((await cli('failures', id)).stdout).toContain('HTTP_503');
  });

  it('run exits with 12 when a run waits for a person; after the answer, the run ends with 10', async () => {
    const id = newId('asked');
    const waiting = await cli('run', 'demo', 'ask me', '--plan', asking, '--policy', quick, '--run-id', id);
    expect(waiting.code).toBe(12);
    expect(waiting.stderr).toContain(`secondwind answer ${id} <`);
    const [status, inbox, again] = await Promise.all([
      cli('status', id),
      json<{ questions: { run_id: string }[] }>('questions'),
      cli('watch', id),
    ]);
    expect(status).toMatchObject({ code: 12, stdout: expect.stringContaining('waiting_for_human') });
    expect(inbox.questions).toEqual([expect.objectContaining({ run_id: id })]);
    expect(again.code).toBe(12);
    expect((await cli('questions')).stdout).toContain(id);

    expect(await json('feedback', id, "no, that's wrong", '--by', 'ann')).toMatchObject({
      code: 0,
      feedback_type: 'user_rejection',
    });
    expect(await json('override', id, '--fatigue', '--by', 'ann')).toMatchObject({ code: 0, overridden_by: 'ann' });
    const { failures } = await json<{ failures: { failure_id: string }[] }>('failures', id);
    expect(await cli('supersede', failures[0]?.failure_id ?? '', '--reason', 'a new server')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(' is superseded. '),
    });
    expect(await json('failures', id)).toMatchObject({ failures: [{ status: 'superseded' }, {}] });

    const watched = startCommand(['watch', id, '--wait', '--json'], { SECONDWIND_DATA_DIR: dataDir });
    await watched.line(/"question_asked"/);
    expect(await json('answer', id, 'stop')).toMatchObject({ code: 0, accepted: true });
    expect(await watched.exited).toBe(10);
    expect(await cli('answer', id, 'stop')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('has no open question'),
    });
    const late = await json('answer', id, 'stop', '--question', 'q-1');
    expect(late).toMatchObject({ code: 1, accepted: false, reason: 'the run has ended' });
  });

  it('run exits with 11 when a budget is used up', async () => {
    const policy = file('budget.json', { retry: { base_ms: 1 }, budget: { max_attempts: 1 } });
    const ended = await json('run', 'demo', 'too much', '--plan', failing, '--policy', policy);
    expect(ended).toMatchObject({ code: 11, event: 'run_ended', outcome: 'budget_exhausted' });
  });

  it('Ctrl-C does not stop a run; cancel stops it, and rerun starts the same request again', async () => {
    const id = newId('stopped');
    const slow = file('slow.json', { retry: { base_ms: 60_000 } });
    const args = ['run', 'demo', 'wait long', '--plan', failing, '--policy', slow, '--run-id', id];
    const following = startCommand(args, { SECONDWIND_DATA_DIR: dataDir });
    await following.line(/waits /);
    following.signal('SIGINT');
    expect(await following.exited).toBe(1);
    expect(following.stderr()).toContain(`The run continues. Follow it again: secondwind watch ${id}`);
    expect(await json('status', id)).toMatchObject({ code: 0, state: 'backing_off' });
    expect(await cli('cancel', id, '--reason', 'enough')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^cancelled: /),
    });
    expect(await cli('cancel', id)).toMatchObject({ code: 1, stderr: expect.stringContaining('has ended') });
    expect((await cli('watch', id)).code).toBe(1);
    const started = await json<{ run_id: string }>('rerun', id, '--detach', '--by', 'ann');
    expect(started).toMatchObject({ code: 0, run_id: expect.stringMatching(/^run-/) });
    expect(started.run_id).not.toBe(id);
    await cli('cancel', started.run_id);
  });

  it('watch without an id follows all runs', async () => {
    const all = startCommand(['watch', '--json'], { SECONDWIND_DATA_DIR: dataDir });
    const id = newId('seen');
    // The stream begins with what happens after it was opened, and nothing says when that was.
    const seen = all.line(new RegExp(`"run_id":"${id}-\\d+".*"run_ended"`));
    for (let times = 0, found = false; !found && times < 10; times += 1) {
      await cli('run', 'demo', 'be seen', '--policy', quick, '--run-id', `${id}-${times}`);
      found = all.stdout().includes(id);
    }
    expect((await seen)[0]).toContain(id);
    all.signal('SIGINT');
    expect(await all.exited).toBe(0);
  });

  it('export writes a file that only its owner can read, and does not overwrite another', async () => {
    const id = newId('exported');
    await cli('run', 'demo', 'keep me', '--policy', quick, '--run-id', id);
    const out = join(folder, 'run.json');
    expect(await cli('export', id, '--out', out)).toMatchObject({ code: 0, stdout: `Wrote ${id} to ${out}.\n` });
    expect(statSync(out).mode & 0o777).toBe(0o600);
    const exported = JSON.parse(readFileSync(out, 'utf8')) as Record<string, unknown>;
    expect(exported).toMatchObject({
      format: 'secondwind.run',
      status: { run_id: id, outcome: 'completed' },
      steps: [{ tool: 'demo.flaky', attempts: [{ outcome: 'failed' }, { outcome: 'ok' }] }],
      failures: [{ run_id: id }],
      trace: [{ status: 'finalized' }],
    });
    expect(await cli('export', id, '--out', out)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--force'),
    });
    expect(JSON.parse((await cli('export', id)).stdout)).toMatchObject({ status: exported['status'] });
  });

  it('lessons lists, shows, pins, retires, restores, edits and previews lessons', async () => {
    const token = readFileSync(join(dataDir, 'token'), 'utf8').trim();
    const lesson = {
      error_type: 'tool_error',
      content: 'demo.flaky works in the second attempt',
      context: 'c',
      query: 'q',
    };
    const posted = await fetch(`${url}/v1/reflections`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...lesson, iteration: 1, quality_delta: 0.5, changed_behavior: true, agent: 'demo' }),
    });
    const { id } = (await posted.json()) as { id: number };
    expect((await cli('lessons', '--agent', 'demo')).stdout).toMatch(
      new RegExp(`${id} +demo +candidate +1 +demo.flaky`),
    );
    expect((await cli('lessons', '--search', 'demo.flaky works in the sec')).stdout).toMatch(
      new RegExp(`${id} +demo `),
    );
    expect((await cli('lessons', '--search', 'moon landing')).stdout).toBe('No lessons.\n');
    const preview = () => json('lessons', '--for', 'demo', '--run-id', 'previewed');
    expect(await preview()).toMatchObject({ lessons: [{ id, status: 'candidate' }] });
    expect((await cli('lessons', 'pin', String(id), '--by', 'ada')).stdout).toBe(`Lesson ${id}: pin by ada.\n`);
    expect((await cli('lessons', '--for', 'demo', '--run-id', 'previewed')).stdout).toContain('A person pinned it');
    expect((await cli('lessons', 'retire', String(id), '--by', 'ada', '--reason', 'wrong')).code).toBe(0);
    expect(await preview()).toMatchObject({ lessons: [] });
    await cli('lessons', 'restore', String(id), '--by', 'bob');
    await cli('lessons', 'edit', String(id), '--by', 'bob', '--text', 'demo.flaky needs a second attempt');
    const { stdout } = await cli('lessons', 'show', String(id));
    expect(stdout).toContain('demo.flaky needs a second attempt\nStatus: candidate, pinned. Learnt 1 times');
    expect(stdout).toContain('Trial: right at the first attempt in 0 of 0 runs that saw it');
    expect(stdout.match(/^Change: \w+ by \w+/gm)).toEqual([
      'Change: pin by ada',
      'Change: retire by ada',
      'Change: restore by bob',
      'Change: edit by bob',
    ]);
    expect((await cli('lessons', 'pin')).code).toBe(2);
  });

  it('reflections, monitors and failures show figures of all runs', async () => {
    const [lessons, monitors, failures] = await Promise.all([
      json('reflections', '--similar-to', 'service unavailable'),
      json('monitors'),
      json<{ fingerprints: object[] }>('failures'),
    ]);
    expect(lessons).toMatchObject({ code: 0, reflections: expect.any(Array) });
    expect(monitors).toMatchObject({ code: 0, monitors: expect.any(Array), switches: expect.any(Array) });
    expect(failures.fingerprints.length).toBeGreaterThan(0);
    expect((await cli('failures')).stdout).toMatch(/^FINGERPRINT /);
    expect((await cli('failures', '--search', 'flaky')).stdout).toMatch(/^fp1:tool_error:demo.flaky:/m);
    expect((await cli('failures', '--tool', 'demo.flaky')).stdout).toMatch(/^fp1:tool_error:demo.flaky:/m);
    expect((await cli('failures', '--search', 'submarine cable')).stdout).toBe('No such failure.\n');
    for (const args of [['reflections'], ['monitors', '--by-day']]) expect((await cli(...args)).code).toBe(0);
  });

  it('monitors switches the enhancement of an agent, and shows who did', async () => {
    const turn = (to: string) => ['monitors', '--enhancement', to, '--agent', 'demo', '--by', 'ann'];
    expect(await json(...turn('off'), '--reason', 'too wordy')).toMatchObject({ code: 0, switched: true, by: 'ann' });
    expect((await cli('monitors')).stdout).toContain('ann switched it off (too wordy).');
    expect((await cli(...turn('off'))).stdout).toMatch(/^Nothing has changed. Enhancement is off for demo/);
    expect((await cli(...turn('on'))).stdout).toBe('Enhancement is on for demo, switched on by ann.\n');
  });

  it('every error has a message, a next step and an exit code', async () => {
    const empty = mkdtempSync(join(folder, 'empty-'));
    const mistakes: [args: string[], code: number, told: string][] = [
      [['status', 'nobody'], 1, 'There is no run nobody. Check the id'],
      [['watch', 'nobody'], 1, 'There is no run nobody.'],
      [['run', 'demmo', 'x'], 2, 'did you mean demo?'],
      [['run', 'nope', 'x'], 2, '$.agent: no agent named nope. Correct the named fields'],
      [['run', 'demo'], 2, 'goal'],
      [['run', 'demo', 'x', '--input', '{'], 2, 'is not JSON'],
      [['runs', '--state', 'asleep'], 2, 'state'],
      [['monitors', '--enhancement', 'on'], 2, 'Name it with --agent'],
      [['answer', 'any', 'maybe'], 2, 'retry, skip, stop'],
      [['override', 'any'], 2, '--max-reruns'],
      [['guidance', 'any', '--step', 'one'], 2, '--step one is invalid'],
      [['runs', '--url', 'nowhere'], 2, 'Use an address such as http://127.0.0.1:4680'],
      [
        ['runs', '--url', 'http://192.0.2.1'],
        1,
        'The token of the data folder is only sent to an API on this machine.',
      ],
      [['runs', '--url', 'http://127.0.0.1:1'], 3, 'Start it (`secondwind dev`)'],
      [['runs', '--data-dir', empty], 1, 'There is no token in'],
    ];
    const all = await Promise.all(mistakes.map(async (mistake) => ({ mistake, ended: await cli(...mistake[0]) })));
    for (const {
      mistake: [args, code, told],
      ended,
    } of all) {
      expect({ args, ...ended }).toMatchObject({ args, code, stdout: '', stderr: expect.stringContaining(told) });
      expect(ended.stderr).not.toContain('at async');
    }
    const told = await json('status', 'nobody');
    expect(told).toMatchObject({ code: 1, event: 'failed', exit_code: 1, next_step: expect.any(String) });
    const wrong = await runCommand(['runs', '--url', url], { SECONDWIND_TOKEN: 'not-the-token' });
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('This token is unknown') });
  });

  it('doctor finds the running stack, and migrate updates a database', async () => {
    const { checks, code } = await json<{ checks: { check: string; state: string; found: string }[] }>('doctor');
    expect(code).toBe(0);
    expect(checks.map(({ check }) => check)).toEqual([
      'node',
      'data folder',
      'temporal',
      'store',
      'api',
      'token',
      'encryption',
      'model',
      'telemetry',
    ]);
    expect(checks.find(({ check }) => check === 'api')).toMatchObject({ state: 'ok', found: `${url} is ready` });
    expect((await cli('doctor')).stdout).toMatch(/^ok {6}node/m);

    const { databaseUrl } = await createTestDatabase();
    const migrate = (DATABASE_URL: string) => runCommand(['migrate', '--json'], { DATABASE_URL });
    expect(await migrate(databaseUrl)).toMatchObject({ code: 0, stdout: '{"applied":[]}\n' });
    await runAsAdmin(inject('databaseUrl'), 'create database cli_commands_empty');
    const empty = urlOfDatabase(inject('databaseUrl'), 'cli_commands_empty');
    expect(await migrate(empty)).toMatchObject({ code: 0, stdout: expect.stringContaining('0001') });
    expect((await migrate('postgres://me:pw@127.0.0.1:1/x')).code).toBe(3);
    expect(await migrate('')).toMatchObject({ code: 2, stderr: expect.stringContaining('DATABASE_URL is not set') });
  });
});
