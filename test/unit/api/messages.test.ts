/** The routes that take messages, without anything behind them: what is refused before a run or a guard is asked. */
import { describe, expect, it } from 'vitest';
import { createApi } from '../../../src/api/create-api.ts';
import type { ApiDeps } from '../../../src/api/api-context.ts';
import { createRegistry } from '../../../src/define/registry.ts';
import { type MessageType, parseMessage } from '../../../src/protocol/messages.ts';

const asked: string[] = [];
/** Notes what is asked of it, and answers nothing. */
const listener = (name: string): never =>
  new Proxy({}, { get: (_target, method) => () => asked.push(`${name}.${String(method)}`) }) as never;
const deps: ApiDeps = {
  runs: listener('runs'),
  inspector: listener('inspector'),
  guards: listener('guards'),
  store: listener('store'),
  registry: createRegistry([]),
  tokens: [{ role: 'operator', token: 'boss' }],
  checks: { temporal: () => Promise.resolve(), store: () => Promise.resolve() },
};

const routes: [path: string, type: MessageType][] = [
  ['/v1/runs/some/override', 'override'],
  ['/orchestrator/override-guardrails/some', 'override'],
  ['/v1/runs/some/answer', 'answer'],
  ['/v1/runs/some/feedback', 'feedback'],
  ['/v1/runs/some/cancel', 'cancel_run'],
  ['/v1/runs/some/rerun', 'cancel_run'],
];
const bodies: unknown[] = [
  {},
  [],
  'stop',
  { by: ' ', reason: 7 },
  { text: '', by: null, because: 'x' },
  { override_fatigue: 'yes', override_by: 'ann' },
  { override_fatigue: false, override_by: 'ann' },
  { question_id: 'q', decision: 'correct', by: 'ann' },
  { question_id: 'q', decision: 'perhaps', by: 'ann' },
];

describe('a message over HTTP', () => {
  it.each(routes)(
    'POST %s answers 422 with the problems that parseMessage finds, and calls no run',
    async (path, type) => {
      const app = createApi(deps);
      const headers = { authorization: 'Bearer boss' };
      asked.length = 0;
      for (const body of bodies) {
        const parsed = parseMessage(type, body);
        if (parsed.ok) throw new TypeError(`${JSON.stringify(body)} is a good ${type}.`);
        const answer = await app.request(path, { method: 'POST', headers, body: JSON.stringify(body) });
        expect(answer.status).toBe(422);
        expect(await answer.json()).toMatchObject({ errors: parsed.problems });
      }
      expect(asked).toEqual([]);
    },
  );
});
