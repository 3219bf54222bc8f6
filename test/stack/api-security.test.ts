/**
 * Who is turned away, made from the description itself: a route that is added to it is tried here without anybody
 * thinking of it, and one without an example below fails. Nothing may have changed by what was refused. Real Temporal,
 * store and worker; slow requests need a port and are in api-serve.test.ts.
 */
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openApiDocument } from '../../src/api/openapi.ts';
import { ROUTES } from '../../src/api/routes/all-routes.ts';
import { type Role, ROLES } from '../../src/api/access.ts';
import { apiAgents } from '../support/api-agents.ts';
import { type ApiWorld, expectAsDescribed, openApiWorld, tokenOf } from '../support/api-world.ts';
import { newFamily, report } from '../support/guard-world.ts';

let world: ApiWorld;
let database: Client;
/** What the examples are about: a run that asks, a family elsewhere, a failure, a lesson and an artifact. */
const there = { run_id: '', question_id: '', loop_id: '', failure_id: '', reflection: '', artifact: '' };

beforeAll(async () => {
  world = await openApiWorld(apiAgents);
  await world.startWorker();
  database = new Client({ connectionString: world.databaseUrl });
  await database.connect();
  there.run_id = world.newRunId('asking');
  const input = { fail_times: 9, error_code: 'auth' };
  const plan = { steps: [{ phase: 'work', tool: 'demo.flaky', input }] };
  await world.runs.start({ agent: 'demo', goal: 'ask', run_id: there.run_id, plan });
  const asked = async () => (await world.runs.get(there.run_id)).pending_question?.question_id ?? '';
  there.question_id = await vi.waitUntil(asked, { timeout: 15_000 });
  there.loop_id = newFamily(world, 'guarded');
  await world.ask('POST', '/orchestrator/loop-complete', { body: report(there.loop_id) });
  const failure = { run_id: 'elsewhere', step_id: 1, signal_type: 'tool_error' };
  const taken = await world.ask('POST', '/v1/failures', { body: failure });
  there.failure_id = String(taken.body['failure_id']);
  const decided = { kind: 'stall', rule: 'cycle', action: 'guide', why: 'x', step_id: 1, fingerprint: null } as const;
  const of = { run_id: there.run_id, loop_id: 'loop', at: new Date().toISOString() };
  await world.store.guardDecisions.append([{ decision_id: 'decided', ...of, ...decided }], 'demo');
  there.artifact = await world.store.artifacts.put(Buffer.from('{}'), 'application/json');
  const kept = await world.ask('POST', '/v1/reflections', { body: LESSON });
  there.reflection = String(kept.body['id']);
});
afterAll(async () => {
  await database.end();
  await world.close();
});

const LESSON = {
  error_type: 'conflict',
  content: 'Look twice.',
  context: 'c',
  query: 'q',
  iteration: 1,
  quality_delta: 0.2,
  changed_behavior: true,
};

/** A request of each write that would do something, were it let in. */
const BODIES: Record<string, () => object> = {
  'POST /v1/runs': () => ({ agent: 'demo', goal: 'x', run_id: world.newRunId('refused') }),
  'POST /v1/runs/{run_id}/override': () => ({ override_fatigue: true, override_by: 'mallory' }),
  'POST /v1/runs/{run_id}/answer': () => ({ question_id: there.question_id, decision: 'stop', by: 'mallory' }),
  'POST /v1/runs/{run_id}/feedback': () => ({ text: 'no, wrong', by: 'mallory' }),
  'POST /v1/runs/{run_id}/cancel': () => ({ by: 'mallory' }),
  'POST /v1/runs/{run_id}/rerun': () => ({ by: 'mallory' }),
  'POST /orchestrator/loop-complete': () => report(`${there.loop_id}_r1`),
  'PUT /orchestrator/policy/{loop_id}': () => ({ policy: { mode: 'enforce' }, by: 'mallory' }),
  'POST /orchestrator/override-guardrails/{loop_id}': () => ({ override_fatigue: true, override_by: 'mallory' }),
  'POST /v1/guard/before': () => ({ agent: 'coder', session: 's', tool: 'look', input: {} }),
  'POST /v1/guard/after': () => ({ agent: 'coder', session: 's', tool: 'look', input: {}, output: 'x' }),
  'POST /v1/failures': () => ({ run_id: 'elsewhere', step_id: 2, signal_type: 'loop_stall' }),
  'POST /v1/failures/{failure_id}/revisions': () => ({ status: 'superseded', by: 'mallory', reason: 'x' }),
  'POST /v1/feedback/detect': () => ({ text: 'Error: x' }),
  'POST /v1/prompts/refine': () => ({ prompt: 'p', feedback: 'TypeError: x is not a function' }),
  'POST /v1/reflections': () => ({ ...LESSON, agent: 'demo', content: 'Another thing altogether, learnt by nobody.' }),
  'POST /v1/reflections/preview': () => ({ agent: 'demo', run_id: 'previewed', goal: 'x' }),
  'POST /v1/reflections/{id}/revisions': () => ({ action: 'retire', by: 'mallory' }),
  'POST /v1/bound': () => ({}),
  'POST /codec/encode': () => ({ payloads: [] }),
  'POST /codec/decode': () => ({ payloads: [] }),
  'POST /v1/runs/{run_id}/decisions/{decision_id}/verdict': () => ({ wrong: true, by: 'mallory' }),
  'POST /v1/monitors/enhancement': () => ({ agent: 'demo', enhancement: 'off', by: 'mallory' }),
};
const QUERIES: Record<string, string> = {
  'GET /v1/runs/{run_id}/guidance': '?step_id=1',
  'GET /v1/known-failures/samples': '?fingerprint=none',
  'GET /v1/reflections/seen': '?error_type=a&content=b',
};

type Body = NonNullable<RequestInit['body']>;

interface Operation {
  name: string;
  method: string;
  path: string;
  /** The weakest role that may; null needs no token. */
  role: Role | null;
}
type Described = Record<string, Record<string, { description?: string; security?: unknown }>>;
const OPERATIONS: Operation[] = Object.entries(openApiDocument(ROUTES, 'x')['paths'] as Described).flatMap(
  ([path, methods]) =>
    Object.entries(methods).map(([method, { description, security }]) => ({
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path,
      role: security === undefined ? null : ((/role (\w+)/.exec(description ?? '')?.[1] ?? 'none') as Role),
    })),
);

const addressOf = ({ name, path }: Operation): string =>
  path
    .replace('{run_id}', there.run_id)
    .replace('{loop_id}', there.loop_id)
    .replace('{failure_id}', there.failure_id)
    .replace('{decision_id}', 'decided')
    .replace('/reflections/{id}', `/reflections/${there.reflection}`)
    .replace('/artifacts/{id}', `/artifacts/${there.artifact}`) + (QUERIES[name] ?? '');

async function send(
  operation: Operation,
  headers: Record<string, string>,
  options: { host?: string; body?: Body } = {},
): Promise<number> {
  const { host = 'localhost', body } = options;
  const sample = operation.method !== 'GET' ? JSON.stringify(BODIES[operation.name]?.()) : undefined;
  const sent = body ?? sample;
  const request = { method: operation.method, headers, ...(sent === undefined ? {} : { body: sent }) };
  const answer = await world.app.request(`http://${host}${addressOf(operation)}`, request);
  if (answer.status < 400) {
    // A stream that is left open would go on listening.
    await answer.body?.cancel();
    return answer.status;
  }
  expectAsDescribed(operation.method, addressOf(operation), answer, await answer.json());
  return answer.status;
}
const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
const enoughFor = ({ role }: Operation): Record<string, string> => (role === null ? {} : bearer(tokenOf(role)));

/** Everything that a write could change: every row of the store, and what Temporal has of the run and the guard. */
async function state(): Promise<unknown> {
  const tables = await database.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
  );
  const counts: Record<string, string> = {};
  for (const { name } of tables.rows) {
    const { rows } = await database.query<{ rows: string }>(`select count(*) as rows from "${name}"`);
    counts[name] = rows[0]?.rows ?? '';
  }
  const { client, taskQueue } = world;
  const lengths = await Promise.all(
    [`agent-run/${there.run_id}`, `loop-guard/${there.loop_id}`].map(
      async (id) => (await client.workflow.getHandle(id).describe()).historyLength,
    ),
  );
  const { count } = await client.workflow.count(`TaskQueue = '${taskQueue}'`);
  return { counts, lengths, workflows: count };
}

async function unchangedBy(work: () => Promise<void>): Promise<void> {
  const before = await state();
  await work();
  expect(await state()).toEqual(before);
}

describe('the description', () => {
  it('the description has a role or no authentication for every operation, and this file has an example of every write', () => {
    expect(OPERATIONS.length).toBe(ROUTES.length);
    expect(OPERATIONS.filter(({ role }) => role !== null && !ROLES.includes(role))).toEqual([]);
    const writes = OPERATIONS.filter(({ method }) => method !== 'GET').map(({ name }) => name);
    expect(writes.sort()).toEqual(Object.keys(BODIES).sort());
  });
});

const named = (operations: Operation[]): [string, Operation][] =>
  operations.map((operation) => [operation.name, operation]);

describe('a caller without access', () => {
  it.each(named(OPERATIONS))('%s refuses a caller without access, and nothing changes', async (_name, operation) => {
    const { role } = operation;
    const weaker = role === null ? [] : ROLES.slice(0, ROLES.indexOf(role));
    await unchangedBy(async () => {
      const enough = enoughFor(operation);
      expect(await send(operation, enough, { host: 'evil.example' })).toBe(403);
      expect(await send(operation, { ...enough, host: 'evil.example' })).toBe(403);
      for (const origin of ['https://evil.example', 'null', 'file://']) {
        expect(await send(operation, { ...enough, origin })).toBe(403);
      }
      for (const role of weaker) expect(await send(operation, bearer(tokenOf(role)))).toBe(403);
    });
  });
});

describe('a token that is known, whole and in its place is needed at', () => {
  it.each(named(OPERATIONS.filter(({ role }) => role !== null)))(
    '%s needs a known and complete token',
    async (_name, operation) => {
      await unchangedBy(async () => {
        const token = tokenOf(operation.role ?? 'operator');
        const shown: Record<string, string>[] = [
          {},
          bearer('wrong'),
          bearer(token.slice(0, -1)),
          bearer(`${token}x`),
          { authorization: token },
          { authorization: `Basic ${Buffer.from(`operator:${token}`).toString('base64')}` },
          { cookie: `token=${token}` },
          { 'x-api-key': token },
        ];
        for (const headers of shown) expect(await send(operation, headers)).toBe(401);
      });
    },
  );
});

describe('nothing but one proper JSON value of its shape is taken by', () => {
  it.each(named(OPERATIONS.filter(({ method }) => method === 'POST')))(
    '%s accepts only one valid JSON value',
    async (_name, operation) => {
      const deep = `${'{"a":'.repeat(500)}1${'}'.repeat(500)}`;
      const sample = (): string => JSON.stringify(BODIES[operation.name]?.());
      const before = sample();
      const withMember = (member: string): string => `{${member}${before === '{}' ? '' : `,${before.slice(1, -1)}`}}`;
      const [key = 'agent'] = Object.keys(JSON.parse(before) as object);
      const form = new FormData();
      form.set('by', 'mallory');
      const bodies: [string, Body][] = [
        ['nothing', ''],
        ['half a value', before.slice(0, -1)],
        ['two values', `${before}${before}`],
        ['a number', '7'],
        ['a list', `[${before}]`],
        ['null', 'null'],
        ['the fields of a form', new URLSearchParams({ by: 'mallory' })],
        ['the parts of a form', form],
        ['too much', withMember(`"padding":"${'x'.repeat(5_000_000)}"`)],
        ['too deep', withMember(`"padding":${deep}`)],
        ['a key twice', withMember(`"${key}":"a","${key}":"b"`)],
        ['__proto__', withMember('"__proto__":{"role":"operator"}')],
        ['constructor', withMember('"constructor":{"prototype":{"role":"operator"}}')],
        ['an overlong text', Buffer.concat([Buffer.from('{"by":"'), Buffer.from([0xc0, 0xae]), Buffer.from('"}')])],
        ['another encoding', Buffer.from(before, 'utf16le')],
      ];
      await unchangedBy(async () => {
        for (const [what, body] of bodies) {
          const status = await send(operation, bearer(tokenOf('operator')), { body });
          expect([what, [400, 413, 422].includes(status)]).toEqual([what, true]);
        }
      });
      expect(({} as Record<string, unknown>)['role']).toBeUndefined();
    },
  );
});

describe('with the role that it needs', () => {
  // Last, and the cancel last of all: these do what they say.
  const inOrder = [...OPERATIONS].sort(
    (one, other) => Number(one.name.includes('cancel')) - Number(other.name.includes('cancel')),
  );

  it('every operation accepts a token with the role that it needs', async () => {
    const refused: string[] = [];
    for (const operation of inOrder.filter(({ name }) => !name.includes('/answer'))) {
      const status = await send(operation, enoughFor(operation));
      if (status >= 400) refused.push(`${operation.name}: ${status}`);
    }
    // No attempt of this run was shown guidance, and its agent has no model: that is an answer, too.
    expect(refused.sort()).toEqual([
      'GET /v1/runs/{run_id}/guidance: 404',
      'GET /v1/runs/{run_id}/prompts: 404',
      'GET /v1/runs/{run_id}/transcript: 404',
    ]);
  });
});
