import autocannon from 'autocannon';
import type { ApiDeps } from '../src/api/api-context.ts';
import { createApi } from '../src/api/create-api.ts';
import { serveApi } from '../src/api/serve.ts';
import { createRegistry } from '../src/define/registry.ts';
import { createGuard } from '../src/guard.ts';
import type { Figures } from './report.ts';

const CALLS = 10_000;
const CONNECTIONS = 8;
const REQUESTS = 1_000;

/** Measures what a guard costs around a call, in process, and how many requests its routes answer. */
export async function benchGuard(quick: boolean): Promise<Figures> {
  return { ...(await benchInProcess()), ...(await benchRoutes(quick ? 1 : 3)) };
}

/** One call of an agent that works: other files, a few errors, and outputs of some lines. */
const callAt = (n: number) => ({
  tool: n % 3 === 0 ? 'bash' : 'read_file',
  input: n % 3 === 0 ? { command: `pytest tests/test_${n % 50}.py -x` } : { path: `src/module_${n % 200}.py`, line: n },
  output: n % 11 === 0 ? `Error: no test number ${n}` : `${n} passed in 2.1 s\n${`a line of output ${n}\n`.repeat(20)}`,
});

async function benchInProcess(): Promise<Figures> {
  const drive = async (call: (n: number) => ReturnType<typeof callAt>): Promise<number> => {
    const guard = createGuard({ agent: 'bench', mode: 'guide' });
    const startedAt = performance.now();
    for (let n = 0; n < CALLS; n += 1) {
      const made = call(n);
      await guard.before(made);
      await guard.after(made);
    }
    return ((performance.now() - startedAt) * 1000) / CALLS;
  };
  await drive(callAt);
  const working = await drive(callAt);
  const stuck = await drive(() => callAt(11));
  return { guard_us_per_call: working, guard_us_per_stuck_call: stuck };
}

/** The routes answer from memory, so nothing else of the API is there. */
const nothing = (): never => new Proxy(() => {}, { get: nothing }) as never;

async function benchRoutes(seconds: number): Promise<Figures> {
  const token = 'bench-token';
  const deps: ApiDeps = {
    runs: nothing(),
    guards: nothing(),
    inspector: nothing(),
    store: nothing(),
    registry: createRegistry([]),
    tokens: [{ role: 'reporter', token }],
    checks: { temporal: () => Promise.resolve(), store: () => Promise.resolve() },
  };
  const served = await serveApi(createApi(deps), { host: '127.0.0.1', port: 0 });
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  /** Requests of 50 sessions in turn. They are made before, and sent by another thread, so that only the server is measured. */
  const requestsOf = (verb: 'before' | 'after') =>
    Array.from({ length: REQUESTS }, (_, n) => {
      const { output, ...call } = callAt(n);
      const body = { agent: 'bench', session: `s${n % 50}`, ...call, ...(verb === 'after' && { output }) };
      return { method: 'POST' as const, headers, body: JSON.stringify(body) };
    });
  const rate = async (path: string, verb?: 'before' | 'after'): Promise<number> => {
    const url = `${served.url}${path}`;
    const { requests, non2xx } = await autocannon({
      url,
      connections: CONNECTIONS,
      duration: seconds,
      workers: 1,
      ...(verb !== undefined && { requests: requestsOf(verb) }),
    });
    if (non2xx > 0) throw new Error(`${non2xx} requests to ${path} were refused`);
    return requests.average;
  };
  try {
    const health = await rate('/healthz');
    const before = await rate('/v1/guard/before', 'before');
    const after = await rate('/v1/guard/after', 'after');
    return {
      guard_before_per_s: before,
      guard_after_per_s: after,
      healthz_per_s: health,
      guard_after_to_healthz: after / health,
    };
  } finally {
    await served.close();
  }
}
