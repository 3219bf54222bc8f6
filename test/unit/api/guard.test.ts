/** The guard over HTTP: a served API whose other parts would fail if they were asked, because it answers from memory. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiDeps } from '../../../src/api/api-context.ts';
import { createApi } from '../../../src/api/create-api.ts';
import { createGuardSessions } from '../../../src/api/guard/guard-sessions.ts';
import { SCHEMAS } from '../../../src/api/schemas/all-schemas.ts';
import { type ServedApi, serveApi } from '../../../src/api/serve.ts';
import { createHttpClient } from '../../../src/client/http/http-client.ts';
import { createGuardState } from '../../../src/core/guard/guard-state.ts';
import { createRegistry } from '../../../src/define/registry.ts';
import { createGuard } from '../../../src/guard.ts';
import { OWN_TRANSCRIPTS } from '../core/stuck/own-transcripts.ts';

const unasked = (): never =>
  new Proxy(() => {}, { get: unasked, apply: () => Promise.reject(new Error('was asked')) }) as never;
const deps: ApiDeps = {
  runs: unasked(),
  guards: unasked(),
  inspector: unasked(),
  store: unasked(),
  registry: createRegistry([]),
  tokens: [
    { role: 'reporter', token: 'agent-token' },
    { role: 'reporter', token: 'other-tenant', tenant: 'other' },
    { role: 'viewer', token: 'reader' },
  ],
  checks: { temporal: () => Promise.resolve(), store: () => Promise.resolve() },
};

let served: ServedApi;
beforeAll(async () => {
  served = await serveApi(createApi(deps), { host: '127.0.0.1', port: 0 });
});
afterAll(() => served.close());

const connect = (token = 'agent-token') => createHttpClient({ url: served.url, token }).guard;
const FAILING = { agent: 'coder', tool: 'read_file', input: { path: 'a.txt' }, error: 'a.txt: permission denied' };

describe('the guard over HTTP', () => {
  it.each(OWN_TRANSCRIPTS)('says the same as the guard in process: $name', async ({ name, calls }) => {
    const [local, remote] = [createGuard({ agent: 'coder' }), connect()];
    const session = name.replaceAll(/\W/g, '-');
    for (const { tool, input, output, error, after_user } of calls) {
      if (after_user === true) local.userMessage();
      const about = { agent: 'coder', session, tool, input, user_message: after_user === true };
      const before = await remote.before(about);
      const { verdict, text } = await local.before({ tool, input });
      expect([before.action, before.guidance]).toEqual([verdict, text]);
      if (verdict !== 'allow') continue;
      const answer = error === true ? { error: output } : { output };
      const said = await remote.after({ ...about, user_message: false, ...answer });
      const expected = await local.after({ tool, input, ...answer });
      expect([said.action, said.guidance, said.loop]).toEqual([expected.verdict, expected.text, expected.loop]);
      SCHEMAS.GuardAfterAnswer.parse(said);
    }
  });

  it('counts each session, agent and tenant on its own', async () => {
    const guard = connect();
    const call = { ...FAILING, session: 'one' };
    const { error: _error, ...asked } = call;
    for (const action of ['continue', 'continue', 'stop']) expect((await guard.after(call)).action).toBe(action);
    expect(await guard.before(asked)).toMatchObject({ action: 'deny', loop: { would_stop_at: 3 } });
    expect((await guard.before({ ...asked, mode: 'guide' })).action).toBe('guide');
    expect((await guard.before({ ...asked, mode: 'observe' })).action).toBe('allow');
    expect((await guard.before({ ...asked, session: 'two' })).action).toBe('allow');
    expect((await guard.before({ ...asked, agent: 'other' })).action).toBe('allow');
    expect((await connect('other-tenant').before(asked)).action).toBe('allow');
    expect((await guard.before({ ...asked, user_message: true })).action).toBe('allow');
  });

  it('needs the role reporter, and names what is wrong with a body', async () => {
    const post = async (token: string, body: object) => {
      const headers = { authorization: `Bearer ${token}` };
      const init = { method: 'POST', headers, body: JSON.stringify(body) };
      const answer = await fetch(`${served.url}/v1/guard/after`, init);
      return [answer.status, await answer.text()] as const;
    };
    const body = { ...FAILING, session: 's' };
    expect(await post('reader', body)).toEqual([403, expect.stringContaining('reporter')]);
    expect(await post('agent-token', { ...body, session: 'a b' })).toEqual([422, expect.stringContaining('$.session')]);
    expect(await post('agent-token', { ...body, efect: 'read' })).toEqual([422, expect.stringContaining('effect')]);
    await expect(connect('reader').after(body)).rejects.toThrow('does not allow');
  });
});

describe('sessions', () => {
  const key = (session: string) => ({ tenant: undefined, agent: 'a', session });
  const state = (calls: number) => ({ ...createGuardState(), watch: { ...createGuardState().watch, calls } });

  it('are bounded, and the one that was idle longest goes first', () => {
    const sessions = createGuardSessions({ most: 3 });
    for (const name of ['a', 'b', 'c']) sessions.set(key(name), state(7));
    sessions.set(key('a'), state(8));
    sessions.set(key('d'), state(1));
    expect(sessions.size).toBe(3);
    expect(['a', 'b', 'c', 'd'].map((name) => sessions.get(key(name)).watch.calls)).toEqual([8, 0, 7, 1]);
  });

  it('end after they were idle', () => {
    let now = 0;
    const sessions = createGuardSessions({ idleMs: 1000 }, () => now);
    sessions.set(key('a'), state(7));
    now = 999;
    expect(sessions.get(key('a')).watch.calls).toBe(7);
    now = 1000;
    expect(sessions.get(key('a')).watch.calls).toBe(0);
    sessions.set(key('b'), state(1));
    expect(sessions.size).toBe(1);
  });
});
