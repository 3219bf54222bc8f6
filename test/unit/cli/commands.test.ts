/** The commands that need no server, as processes. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { DEFAULT_POLICY } from '../../../src/protocol/policy.ts';
import { POLICY_ROWS } from '../../../src/protocol/policy-table.ts';
import { program } from '../../support/programs.ts';

const folder = mkdtempSync(join(tmpdir(), 'secondwind-cli-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (...args: string[]) => runWith('', ...args);
const runWith = (input: string, ...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program('src/cli/main.ts'), ...args], {
    encoding: 'utf8',
    input,
  });
  return { status, stdout, stderr };
};
const file = (name: string, value: unknown): string => {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify(value));
  return path;
};

// Each command is a process of its own, and the machine may be busy.
describe('secondwind', { timeout: 60_000 }, () => {
  it('secondwind --help shows the commands in groups', () => {
    const { status, stdout } = run('--help');
    expect(status).toBe(0);
    const groups = [...stdout.matchAll(/^(\w+):$/gm)].map((match) => match[1]);
    expect(groups).toEqual(['Options', 'Look', 'Run', 'Decide', 'Operate']);
    expect(stdout).toContain('12 waiting for a person');
  });

  it('an unknown command or flag exits with 2', () => {
    expect(run('devv')).toMatchObject({ status: 2, stderr: expect.stringContaining('Did you mean dev?') });
    expect(run('dev', '--frob')).toMatchObject({ status: 2, stderr: expect.stringContaining('--frob') });
  });

  it('policy prints every setting with its default and its meaning, and applies a file', () => {
    expect(JSON.parse(run('policy', '--json').stdout)).toEqual(DEFAULT_POLICY);
    const mine = file('policy.json', { retry: { network: 0 } });
    const lines = run('policy', '--policy', mine).stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(1 + POLICY_ROWS.length);
    expect(lines.find((line) => line.startsWith('retry.network '))).toMatch(/^retry\.network +0 +Retries after .*DNS/);
  });

  it('bound prints the limit of a run', () => {
    const plan = file('plan.json', { steps: [{ phase: 'look', tool: 'any', input: {} }] });
    expect(JSON.parse(run('bound', '--plan', plan, '--json').stdout)).toMatchObject({
      loops: 7,
      steps: 7,
      model_calls: 0,
    });
    expect(run('bound', '--agent', 'demo').stdout).toMatch(/^At most \d+ attempts/);
  });

  it('bound prints the limit for an agent of a folder, and exits although the agent keeps something open', () => {
    const agents = mkdtempSync(join(folder, 'agents-'));
    const index = JSON.stringify(pathToFileURL(program('src/index.ts')).href);
    const agent = (name: string, max_steps: number) => `
      import { defineAgent } from ${index};
      setInterval(() => {}, 1_000);
      const policy = { budget: { max_steps: ${max_steps} } };
      export default defineAgent({ name: '${name}', instructions: 'Work.', tools: [], policy });
    `;
    writeFileSync(join(agents, 'two.mjs'), agent('two-steps', 2));
    expect(JSON.parse(run('bound', '--agents', agents, '--json').stdout)).toMatchObject({ steps: 2 });
    writeFileSync(join(agents, 'three.mjs'), agent('three-steps', 3));
    expect(JSON.parse(run('bound', '--agents', agents, '--agent', 'three-steps', '--json').stdout)).toMatchObject({
      steps: 3,
    });
    expect(run('bound', '--agents', agents)).toMatchObject({
      status: 2,
      stderr: 'The folder has 2 agents: three-steps, two-steps. Name one of them with --agent.\n',
    });
    expect(run('bound', '--agents', join(folder, 'nowhere'))).toMatchObject({ status: 2 });
  });

  it('detect prints the kind of failure in a text, from an argument, a file or stdin', () => {
    const text = 'AssertionError: expected 3 to equal 4';
    const told = JSON.parse(run('detect', text, '--json').stdout) as Record<string, unknown>;
    expect(told).toMatchObject({ feedback_type: 'verification_failure', matches: [{}], actions: expect.any(Array) });
    const path = join(folder, 'said.txt');
    writeFileSync(path, text);
    expect(JSON.parse(run('detect', '--file', path, '--json').stdout)).toEqual(told);
    expect(JSON.parse(runWith(text, 'detect', '--json').stdout)).toEqual(told);
    expect(run('detect', 'a fine day')).toMatchObject({ status: 0, stdout: 'Nothing was detected.\n' });
  });

  it('refine prints a prompt that includes the feedback', () => {
    const refined = run('refine', '--prompt', 'Sort the list.', '--feedback', 'no, use Postgres instead');
    expect(refined).toMatchObject({ status: 0, stdout: expect.stringMatching(/^Sort the list\.[^]+Postgres/) });
    expect(run('refine', '--prompt', 'x')).toMatchObject({ status: 2, stderr: expect.stringContaining('--feedback') });
    const many = run('refine', '--prompt', 'x', '--feedback', 'y', '--max-iterations', '99');
    expect(many).toMatchObject({ status: 2, stderr: expect.stringContaining('0 to 20') });
  });

  it('an invalid file is reported with the path of the problem, and exits with 2', () => {
    const wrong = file('wrong.json', { retry: { netwrok: 1 } });
    expect(run('bound', '--policy', wrong)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('$.retry.netwrok: unknown key; did you mean network?'),
    });
    expect(run('bound', '--plan', join(folder, 'none.json'))).toMatchObject({ status: 2 });
    expect(run('bound', '--agent', 'demmo')).toMatchObject({ status: 2, stderr: expect.stringContaining('demo?') });
  });
});
