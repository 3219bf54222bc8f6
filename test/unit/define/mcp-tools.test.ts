/** Tools of a real MCP server process, over stdio and HTTP, through the runner that runs every tool. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { executeTool } from '../../../src/activities/tools/execute-tool.ts';
import { createRedactor, type Redact } from '../../../src/core/redaction/redact.ts';
import { findServerSecrets } from '../../../src/define/mcp/server-secrets.ts';
import { findRegistrySecrets } from '../../../src/define/registry-secrets.ts';
import { createRegistry, defineAgent, mcpTools, type McpServer, type McpTools } from '../../../src/index.ts';
import type { CallOutcome, ToolCallRequest } from '../../../src/protocol/tools.ts';
import { program } from '../../support/programs.ts';

const ARGS = [program('test/support/mcp-server.ts')];
/** On a busy machine a process takes its time to start. */
const PATIENT = { connectTimeoutMs: 45_000 };

/** What is open must be closed by the one who opened it: a test, or a whole block of them. */
class World {
  readonly folder = mkdtempSync(join(tmpdir(), 'mcp-'));
  readonly notes = join(this.folder, 'notes');
  readonly closing: (() => Promise<unknown>)[] = [];

  notesTaken(): string[] {
    return existsSync(this.notes) ? readFileSync(this.notes, 'utf8').trim().split('\n') : [];
  }

  async open(server: McpServer): Promise<McpTools> {
    const tools = await mcpTools(server);
    this.closing.push(() => tools.close());
    return tools;
  }

  stdio(more: object = {}): Promise<McpTools> {
    const args = [...ARGS, 'stdio'];
    return this.open({
      name: 'test',
      command: process.execPath,
      args,
      env: { NOTES: this.notes },
      ...PATIENT,
      ...more,
    });
  }

  overHttp({ url }: { url: string }, more: object = {}): Promise<McpTools> {
    return this.open({ name: 'test', url, headers: { authorization: 'Bearer letmein' }, ...PATIENT, ...more });
  }

  async startHttp(port = 0): Promise<HttpServer> {
    const child: ChildProcess = spawn(process.execPath, [...ARGS, 'http', String(port)], {
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { ...process.env, NOTES: this.notes },
    });
    const [line] = (await once(child.stdout ?? child, 'data')) as [Buffer];
    const url = line.toString('utf8').trim();
    const end = async (): Promise<void> => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    };
    this.closing.push(end);
    return { url, port: Number(new URL(url).port), end };
  }

  async end(): Promise<void> {
    await Promise.all(this.closing.splice(0).map((close) => close()));
    rmSync(this.folder, { recursive: true });
  }
}

interface HttpServer {
  url: string;
  port: number;
  end(): Promise<void>;
}

const toolNamed = (tools: McpTools, name: string) => {
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined) throw new Error(`no ${name} among ${tools.map((one) => one.name).join(', ')}`);
  return tool;
};

function call(
  tools: McpTools,
  name: string,
  input: object = {},
  more: Partial<ToolCallRequest> = {},
  redact: Redact = (text) => text,
): Promise<CallOutcome> {
  const request = {
    tool: name,
    input,
    attempt: 1,
    guidance: { rows: [], text: '' },
    constraints: {},
    idempotency_key: 'run:1',
    timeout_ms: 45_000,
    ...more,
  } as ToolCallRequest;
  return executeTool(toolNamed(tools, name), request, {
    signal: new AbortController().signal,
    stopped: () => null,
    heartbeat: () => {},
    loadArtifact: () => Promise.resolve(undefined),
    waitForStore: (_purpose, ask) => ask(),
    saveArtifact: () => Promise.resolve(),
    log: () => undefined,
    redact,
    now: () => Date.now(),
  });
}

const ways: [string, (world: World, more?: object) => Promise<McpTools>][] = [
  ['stdio', (world, more) => world.stdio(more)],
  ['HTTP', async (world, more) => world.overHttp(await world.startHttp(), more)],
];

describe.each(ways)('the tools of a server over %s', (_way, connect) => {
  let world: World;
  let tools: McpTools;
  beforeAll(async () => {
    world = new World();
    tools = await connect(world, { maxOutputBytes: 5_000 });
  }, 60_000);
  afterAll(() => world.end());

  it('MCP tools are ordinary tools, with effects from the hints of the server', { timeout: 60_000 }, async () => {
    expect(Object.fromEntries(tools.map((tool) => [tool.name, tool.effect]))).toMatchObject({
      'test.read_note': 'read',
      'test.set_note': 'idempotent',
      'test.send_mail': 'side_effect',
      'test.strange_name_of_a_tool': 'side_effect',
    });
    expect(toolNamed(tools, 'test.read_note').description).toBe('Reads a note');
    expect(defineAgent({ name: 'a', tools }).tools).toHaveLength(tools.length);

    expect(await call(tools, 'test.read_note', { id: '7' })).toMatchObject({ class: 'ok', output: { text: 'note 7' } });
    expect(await call(tools, 'test.measure', { value: 21 })).toMatchObject({ output: { structured: { celsius: 21 } } });
    expect(await call(tools, 'test.strange_name_of_a_tool')).toMatchObject({ output: { text: 'fine' } });
    const told = '[image image/png, 4 characters of base64]';
    expect(await call(tools, 'test.picture')).toMatchObject({ output: { text: told } });
  });

  it('MCP tools get the idempotency key of the step', { timeout: 60_000 }, async () => {
    expect(await call(tools, 'test.set_note')).toMatchObject({ class: 'ok', output: { text: 'run:1' } });
  });

  it('an MCP tool with an unreadable schema is left out, with a warning', { timeout: 60_000 }, async () => {
    expect(tools.problems).toEqual([
      { tool: 'odd_schema', message: expect.stringContaining('its input schema cannot be read') as string },
    ]);
    expect(tools.some((tool) => tool.name === 'test.odd_schema')).toBe(false);
  });

  it(
    'an MCP schema that zod cannot express is passed on unchanged, and the server checks it',
    { timeout: 60_000 },
    async () => {
      const { input } = toolNamed(tools, 'test.conditional');
      expect(z.toJSONSchema(input, { unrepresentable: 'any', io: 'input' })).toMatchObject({
        type: 'object',
        properties: { all: { type: 'boolean' }, name: { type: 'string' } },
        else: { required: ['name'] },
        unevaluatedProperties: false,
      });
      expect(await call(tools, 'test.conditional', { all: true })).toMatchObject({ output: { text: '{"all":true}' } });
      const missing = { class: 'failed', category: 'invalid_input', message_preview: 'test: name is missing' };
      expect(await call(tools, 'test.conditional', {})).toMatchObject(missing);
      const noObject = { class: 'failed', category: 'invalid_input', certainty: 'not_started' };
      expect(await call(tools, 'test.conditional', [])).toMatchObject(noObject);
    },
  );

  it('invalid arguments of an MCP tool are refused before the server gets them', { timeout: 60_000 }, async () => {
    expect(await call(tools, 'test.read_note', { id: 7 })).toMatchObject({
      class: 'failed',
      category: 'invalid_input',
      certainty: 'not_started',
      paths: ['$.id'],
    });
  });

  it.each([
    ['Rate limit exceeded, slow down', 'rate_limit'],
    ['ENOENT: no such file or directory, open /srv/note', 'invalid_input'],
    ['something odd', 'invalid_input'],
    ['connect ECONNREFUSED 10.0.0.1:5432', 'network'],
    ['read ECONNRESET', 'network'],
  ])(
    'a failed MCP tool is classified by its text, which does not prove its effect: %s',
    { timeout: 60_000 },
    async (words, category) => {
      expect(await call(tools, 'test.fail', { words })).toMatchObject({
        class: 'failed',
        category,
        certainty: 'unknown',
        error_code: 'MCP_TOOL_ERROR',
        message_preview: `test: ${words}`,
      });
    },
  );

  it('MCP data that does not match its schema violates the contract', { timeout: 60_000 }, async () => {
    expect(await call(tools, 'test.measure', { value: 'warm' })).toMatchObject({
      class: 'failed',
      category: 'contract_violation',
      paths: ['$.structured.celsius'],
    });
  });

  it('the output of an MCP tool is cut at its cap', { timeout: 60_000 }, async () => {
    const outcome = await call(tools, 'test.big', { bytes: 100_000 });
    expect(outcome).toMatchObject({ class: 'ok', output: { truncated: true } });
    expect(outcome.class === 'ok' && outcome.bytes).toBeLessThan(5_100);
    const tighter = await call(tools, 'test.big', { bytes: 100_000 }, { constraints: { max_output_bytes: 1_000 } });
    expect(tighter.class === 'ok' && tighter.bytes).toBeLessThan(1_100);
  });

  it('an MCP call without an answer times out, and the server keeps running', { timeout: 60_000 }, async () => {
    const before = await call(tools, 'test.whoami');
    const timeout = { class: 'failed', category: 'timeout', certainty: 'unknown' };
    expect(await call(tools, 'test.slow', {}, { timeout_ms: 300 })).toMatchObject(timeout);
    const after = await call(tools, 'test.whoami');
    expect(after).toMatchObject({ class: 'ok' });
    expect(after.class === 'ok' && after.output).toEqual(before.class === 'ok' && before.output);
  });

  it('a closed MCP connection makes no more calls', { timeout: 60_000 }, async () => {
    const closed = await connect(world, { only: ['send_mail'] });
    expect(closed.map((tool) => tool.name)).toEqual(['test.send_mail']);
    await closed.close();
    const gone = { class: 'failed', certainty: 'not_started', error_code: 'MCP_UNREACHABLE' };
    expect(await call(closed, 'test.send_mail', { to: 'a' })).toMatchObject(gone);
    expect(world.notesTaken()).toEqual([]);
  });
});

describe('a server that dies in the middle of a call', () => {
  let world: World;
  beforeEach(() => {
    world = new World();
  });
  afterEach(() => world.end());

  it(
    'if an MCP process dies during a call, the effect is unknown, and the next call restarts it',
    { timeout: 120_000 },
    async () => {
      const tools = await world.stdio();
      const first = await call(tools, 'test.whoami');
      const died = await call(tools, 'test.die');
      expect(died).toMatchObject({
        class: 'failed',
        category: 'network',
        certainty: 'unknown',
        message_preview: expect.stringContaining('out of cheese') as string,
      });
      expect(world.notesTaken()).toEqual(['died']);
      const second = await call(tools, 'test.whoami');
      expect(second).toMatchObject({ class: 'ok' });
      expect(second.class === 'ok' && second.output).not.toEqual(first.class === 'ok' && first.output);
    },
  );

  it(
    'if an MCP process dies, all parallel calls fail, and later calls share the new one',
    { timeout: 120_000 },
    async () => {
      const tools = await world.stdio();
      const lost = await Promise.all([call(tools, 'test.slow'), call(tools, 'test.slow'), call(tools, 'test.die')]);
      for (const outcome of lost) expect(outcome).toMatchObject({ class: 'failed', certainty: 'unknown' });
      const [one, other] = await Promise.all([call(tools, 'test.whoami'), call(tools, 'test.whoami')]);
      expect(one).toMatchObject({ class: 'ok' });
      expect(one.class === 'ok' && one.output).toEqual(other.class === 'ok' && other.output);
    },
  );

  it('an MCP process that freezes is replaced', { timeout: 120_000 }, async () => {
    const tools = await world.stdio();
    expect(await call(tools, 'test.freeze', {}, { timeout_ms: 300 })).toMatchObject({
      category: 'timeout',
      certainty: 'unknown',
    });
    // Until the deaf one is given up, calls time out; each of them may be tried again.
    await expect
      .poll(async () => (await call(tools, 'test.whoami', {}, { timeout_ms: 4_000 })).class, { timeout: 90_000 })
      .toBe('ok');
  });

  it('an MCP answer that is too large is reported as such, and the next call works', { timeout: 120_000 }, async () => {
    const tools = await world.stdio();
    expect(await call(tools, 'test.big', { bytes: 30_000_000 })).toMatchObject({
      class: 'failed',
      category: 'invalid_input',
      error_code: 'MCP_ANSWER_TOO_LARGE',
      message_preview: expect.stringContaining('an answer was larger than 10485760 bytes') as string,
    });
    const [big, slow] = await Promise.all([call(tools, 'test.big', { bytes: 30_000_000 }), call(tools, 'test.slow')]);
    for (const outcome of [big, slow]) {
      const told = expect.stringContaining('larger than') as string;
      expect(outcome).toMatchObject({ category: 'network', certainty: 'unknown', message_preview: told });
    }
    expect(await call(tools, 'test.whoami')).toMatchObject({ class: 'ok' });
  });

  it(
    'if an MCP server over HTTP dies, the effect is unknown; while it is down, calls are not started; then they work again',
    { timeout: 120_000 },
    async () => {
      const server = await world.startHttp();
      const tools = await world.overHttp(server);
      const died = await call(tools, 'test.die');
      expect(died).toMatchObject({ class: 'failed', category: 'network', certainty: 'unknown' });
      expect(world.notesTaken()).toEqual(['died']);
      const away = await call(tools, 'test.send_mail', { to: 'a' });
      expect(away).toMatchObject({ class: 'failed', category: 'network', certainty: 'not_started' });
      await world.startHttp(server.port);
      expect(await call(tools, 'test.send_mail', { to: 'b' })).toMatchObject({ class: 'ok', output: { text: 'sent' } });
      expect(world.notesTaken()).toEqual(['died', 'mail b']);
    },
  );

  it('a restarted MCP server over HTTP does not know the session and did nothing', { timeout: 120_000 }, async () => {
    const server = await world.startHttp();
    const tools = await world.overHttp(server);
    await server.end();
    await world.startHttp(server.port);
    const unknown = await call(tools, 'test.send_mail', { to: 'a' });
    expect(unknown).toMatchObject({ class: 'failed', certainty: 'not_started', error_code: 'MCP_SESSION_GONE' });
    expect(world.notesTaken()).toEqual([]);
    expect(await call(tools, 'test.send_mail', { to: 'a' })).toMatchObject({ class: 'ok' });
    expect(world.notesTaken()).toEqual(['mail a']);
  });
});

describe('what a server is given to keep', () => {
  const KEY = 'corp-own-word-Zx81';
  let world: World;
  beforeEach(() => {
    world = new World();
  });
  afterEach(() => world.end());

  it(
    'a secret of an MCP server is a secret of its tools, so that no record contains it',
    { timeout: 60_000 },
    async () => {
      const tools = await world.stdio({ env: { API_KEY: KEY, NODE_ENV: 'production' } });
      const registry = createRegistry([defineAgent({ name: 'a', tools })]);
      const redact = createRedactor(findRegistrySecrets(registry));
      const outcome = await call(tools, 'test.secret', {}, {}, redact);
      expect(outcome).toMatchObject({ class: 'failed', message_preview: 'test: [redacted:known] is refused' });
      expect(redact('in production')).toBe('in production');
    },
  );

  it('the error of an unusable MCP server contains no secret', { timeout: 60_000 }, async () => {
    const args = ['-e', 'console.error("no " + process.env.API_KEY); process.exit(3)'];
    const opened = mcpTools({ name: 'none', command: process.execPath, args, env: { API_KEY: KEY } });
    await expect(opened).rejects.toThrow(/\(no \[redacted:known\]\)/);
  });

  it.each<[string, object, string[]]>([
    ['a header', { headers: { authorization: `Bearer ${KEY}` } }, [KEY]],
    ['a header by its looks', { headers: { 'x-caller': '4f9a8b7c6d5e4f3a2b1c0d' } }, ['4f9a8b7c6d5e4f3a2b1c0d']],
    ['a parameter', { url: `https://a.example/mcp?api_key=${KEY}` }, [KEY]],
    ['nothing', { headers: { accept: 'application/json', 'x-stage': 'production' } }, []],
  ])('a secret of an MCP server is recognised by its name or its format: %s', (_what, more, secrets) => {
    const found = findServerSecrets({ name: 'a', url: 'https://a.example/mcp', ...more });
    expect(found).toEqual(expect.arrayContaining(secrets));
    expect(found.length > 0).toBe(secrets.length > 0);
  });
});

describe('a server that cannot be used', () => {
  let world: World;
  beforeEach(() => {
    world = new World();
  });
  afterEach(() => world.end());

  it('an MCP server with an unknown command is refused with the reason', async () => {
    const opened = mcpTools({ name: 'none', command: join(world.folder, 'no-such-command') });
    await expect(opened).rejects.toThrow(/The MCP server none .*cannot be used: .*ENOENT/);
  });

  it('an MCP server whose command exits is refused with its last output', { timeout: 60_000 }, async () => {
    const args = ['-e', 'console.error("wrong door"); process.exit(3)'];
    await expect(mcpTools({ name: 'none', command: process.execPath, args })).rejects.toThrow('wrong door');
  });

  it('an MCP server that never answers is refused with the reason', { timeout: 60_000 }, async () => {
    const server = { name: 'none', command: process.execPath, args: ['-e', 'process.stdin.resume()'] };
    await expect(mcpTools({ ...server, connectTimeoutMs: 1_000 })).rejects.toThrow('timed out');
  });

  it(
    'an MCP server with a wrong key, or without a requested tool, is refused with the reason',
    { timeout: 60_000 },
    async () => {
      const { url } = await world.startHttp();
      await expect(mcpTools({ name: 'test', url })).rejects.toThrow(/cannot be used/);
      const missing = world.overHttp({ url }, { only: ['no_such_tool'] });
      await expect(missing).rejects.toThrow('it has no tool named no_such_tool; it has: read_note');
    },
  );

  it.each<[string, object, string]>([
    ['a name with a dot', { name: 'a.b', url: 'http://127.0.0.1/' }, 'The MCP server name "a.b" is invalid'],
    ['neither command nor url', { name: 'a' }, 'either a command or a url'],
    ['both', { name: 'a', command: 'x', url: 'http://127.0.0.1/' }, 'either a command or a url'],
    ['an address that is none', { name: 'a', url: 'file:///etc/passwd' }, 'not an http or https URL'],
  ])('invalid MCP options are refused at once: %s', async (_name, server, words) => {
    await expect(mcpTools(server as McpServer)).rejects.toThrow(words);
  });
});
