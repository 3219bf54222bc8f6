/** What the cap on an answer is called differs between servers; over real sockets. Needs nothing. */
import { afterEach, describe, expect, it } from 'vitest';
import { defineAgent } from '../../../src/define/define-agent.ts';
import type { ModelRequest } from '../../../src/model/request.ts';
import { askModel } from '../../../src/model/ask-model.ts';
import { modelReviewer } from '../../../src/model/model-reviewer.ts';
import { chooseTokenParameter } from '../../../src/model/token-parameter.ts';
import { type Script, type ScriptedServer, serveScriptedModel } from '../../../src/testing.ts';
import { liveThinking } from '../../support/thinking.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

async function serve(script: Script): Promise<ScriptedServer> {
  const server = await serveScriptedModel(script);
  closing.push(() => server.close());
  return server;
}

const request: ModelRequest = {
  instructions: 'Be brief.',
  messages: [{ role: 'user', text: 'go' }],
  tools: [],
  max_output_tokens: 100,
  timeout_ms: 10_000,
};

/** As gpt-5 and its like are. */
const newer: Script = ({ maxOutputTokensName, output }) => {
  if (maxOutputTokensName === 'max_tokens') return { fault: 'unsupported_parameter' };
  const sage = { alignment_score: 1, drift_score: 0, summary_valid: true, missed: [], bias_tags: [] };
  return output === null ? { text: 'hi' } : { json: sage };
};
const names = (server: ScriptedServer) => server.exchanges.map((exchange) => exchange.request.maxOutputTokensName);

describe('the cap on an answer', () => {
  it.each([
    ['https://api.openai.com/v1', 'max_completion_tokens'],
    ['https://api.openai.com/v1/', 'max_completion_tokens'],
    ['http://127.0.0.1:11434/v1', 'max_tokens'],
    ['https://api.openai.com.example.org/v1', 'max_tokens'],
    ['no address', 'max_tokens'],
  ])('the parameter for the longest answer at %s is %s', (base_url, name) => {
    expect(chooseTokenParameter({ base_url, model: 'gpt-5-mini' })).toBe(name);
  });

  it('the other parameter name is used within the turn if the server requires it, and from then on', async () => {
    const server = await serve(newer);
    const model = { base_url: server.url, model: 'gpt-5-mini' };
    const { result, state } = await liveThinking([defineAgent({ name: 'x', instructions: 'do', model, tools: [] })]);
    expect(result).toMatchObject({ outcome: 'completed', result: { output: 'hi' }, failures: { total: 0 } });
    expect(names(server)).toEqual(['max_tokens', 'max_completion_tokens']);
    expect(state.ledger.used.model_calls).toBe(server.counts().requests);
    await liveThinking([defineAgent({ name: 'x', instructions: 'do', model, tools: [] })]);
    expect(names(server).slice(2)).toEqual(['max_completion_tokens']);
  });

  it('the parameter name is remembered for the next request if a second call is not allowed', async () => {
    const server = await serve(newer);
    const model = { base_url: server.url, model: 'm' };
    const policy = { budget: { max_model_calls: 1 } };
    const { state } = await liveThinking([defineAgent({ name: 'x', instructions: 'do', model, tools: [], policy })]);
    expect(server.counts().requests).toBe(1);
    expect(state.ledger.used.model_calls).toBe(1);
    expect(await askModel(request, { model })).toMatchObject({ class: 'ok', text: 'hi' });
  });

  it('the second call of a reviewer for the parameter name counts too', async () => {
    const server = await serve(newer);
    const review = modelReviewer({ model: { base_url: server.url, model: 'judge' } });
    const model = { base_url: server.url, model: 'worker' };
    const agent = defineAgent({ name: 'x', instructions: 'do', model, tools: [], review });
    const { state } = await liveThinking([agent]);
    expect(state.guard.loops[0]?.verdict?.review.reflection_persona).toBe('SAGE');
    expect(names(server)).toHaveLength(5);
    expect(state.ledger.used.model_calls).toBe(5);
  });

  it('a request that is refused for another reason is not sent twice', async () => {
    const server = await serve(() => ({ fault: 'unsupported_parameter', parameter: 'stop', instead: 'nothing' }));
    const outcome = await askModel(request, { model: { base_url: server.url, model: 'm' }, mayAskAgain: true });
    expect(outcome).toMatchObject({ class: 'failed', category: 'invalid_input', certainty: 'failed' });
    expect(server.counts().requests).toBe(1);
  });
});

describe('an endpoint', () => {
  it('an endpoint may need additional headers and body fields', async () => {
    const server = await serveScriptedModel([{ text: 'hi' }], { apiKey: 'from-a-header' });
    closing.push(() => server.close());
    const model = {
      base_url: server.url,
      model: 'm',
      headers: { authorization: 'Bearer from-a-header' },
      body: { max_tokens: 7 },
    };
    expect(await askModel(request, { model })).toMatchObject({ class: 'ok', text: 'hi' });
    expect(server.exchanges[0]?.request).toMatchObject({ maxOutputTokens: 7 });
  });
});
