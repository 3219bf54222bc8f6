/** What an agent's own endpoint holds is in no environment variable, and still in no record. Real sockets; needs nothing. */
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createRedactor } from '../../../src/core/redaction/redact.ts';
import { defineAgent } from '../../../src/define/define-agent.ts';
import { defineTool } from '../../../src/define/define-tool.ts';
import { planTurn } from '../../../src/model/plan-turn.ts';
import { modelReviewer } from '../../../src/model/model-reviewer.ts';
import type { MessageStore } from '../../../src/model/transcript-store.ts';
import { type Script, type ScriptedTurn, serveScriptedModel } from '../../../src/testing.ts';
import { liveThinking, messageStoreInMemory, quietEnvironment } from '../../support/thinking.ts';

const KEY = 'corp-own-Zx81-Qq';
const HEADER = 'gateway-word-4417';
const BODY = 'body-word-9921';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

const look = defineTool({
  name: 'look',
  effect: 'read',
  input: z.object({ at: z.string() }),
  output: z.json(),
  run: ({ at }) => `${at} is there`,
});

/** Lives a run on a worker whose redactor knows only the environment; everything that is kept anywhere comes back. */
async function keptOf(script: Script) {
  const server = await serveScriptedModel(script);
  closing.push(() => server.close());
  const model = {
    base_url: server.url,
    api_key: KEY,
    model: 'm',
    headers: { 'x-gateway-key': `Word ${HEADER}` },
    body: { access_token: BODY },
  };
  const output = z.json();
  const agent = defineAgent({ name: 'x', instructions: 'do', model, tools: [look], output, review: modelReviewer() });
  const written: string[] = [];
  const memory = messageStoreInMemory();
  const store: MessageStore = {
    ...memory,
    putMany: async (artifacts) => {
      written.push(...artifacts.map(({ text }) => text));
      await memory.putMany(artifacts);
    },
  };
  const redact = createRedactor();
  const outcomes: unknown[] = [];
  const lived = await liveThinking(
    [agent],
    {},
    {
      plan: async (view) => {
        const outcome = await planTurn(agent, view, { ...quietEnvironment, redact, store, environment: {} });
        outcomes.push(outcome);
        return outcome;
      },
    },
  );
  const { registry: _registry, ...records } = lived;
  return { asked: server.counts().requests, everything: JSON.stringify([records, written, outcomes]) };
}

const echo = `Your key is ${KEY}, by ${HEADER} and ${BODY}.`;

describe('the secrets of an agent’s own endpoint', () => {
  it.each<[string, ScriptedTurn[]]>([
    ['the error of a server', [{ fault: 'http_error', status: 401, code: 'invalid_api_key', message: echo }]],
    ['an answer that cannot be used', [{ text: echo }, { text: echo }, { text: echo }]],
    ['an answer', [{ json: { said: echo } }]],
    ['a call', [{ text: echo, calls: [{ tool: 'look', input: { at: echo } }] }, { json: 1 }]],
  ])('secrets of an endpoint appear nowhere when they are in %s', async (_where, turns) => {
    const { asked, everything } = await keptOf(turns);
    expect(asked).toBeGreaterThanOrEqual(turns.length);
    expect(everything).toContain('[redacted:known]');
    for (const secret of [KEY, HEADER, BODY]) expect(everything).not.toContain(secret);
  });
});
