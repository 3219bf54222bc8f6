import { checkTranscript } from '../../core/transcript/check-transcript.ts';
import { errorReply, buildReply } from './reply.ts';
import type { ErrorReply, Reply, Script, ScriptedRequest } from './script.ts';

export interface Exchange {
  request: ScriptedRequest;
  reply: Reply;
}

/** Counts so far. Tokens are those of answers that were sent completely. */
export interface ScriptedCounts {
  requests: number;
  /** Requests that were refused because a provider would refuse them. They do not use a turn of the script. */
  rejected: number;
  inputTokens: number;
  outputTokens: number;
}

/** Plays a script. In-process and HTTP requests are counted and checked the same way. */
export interface ScriptPlayer {
  play(request: Omit<ScriptedRequest, 'index'>): Promise<Reply>;
  /** Refuses a request that could not be parsed. */
  refuse(message: string): ErrorReply;
  readonly exchanges: readonly Exchange[];
  counts(): ScriptedCounts;
}

export function createPlayer(script: Script): ScriptPlayer {
  const exchanges: Exchange[] = [];
  const counts: ScriptedCounts = { requests: 0, rejected: 0, inputTokens: 0, outputTokens: 0 };
  let turns = 0;
  let calls = 0;
  const nextId = (): string => `call_${(calls += 1)}`;

  return {
    exchanges,
    counts: () => ({ ...counts }),
    refuse(message) {
      counts.requests += 1;
      counts.rejected += 1;
      return errorReply(400, 'invalid_request', message);
    },
    async play(asked) {
      const problem = findProblem(asked);
      counts.requests += 1;
      if (problem !== null) {
        counts.rejected += 1;
        const reply = errorReply(400, 'invalid_request', problem);
        exchanges.push({ request: { ...asked, index: turns }, reply });
        return reply;
      }
      const request = { ...asked, index: turns };
      turns += 1;
      // Recorded before the script runs, so that the request is visible even if the script never returns.
      const exchange: Exchange = { request, reply: { kind: 'hang' } };
      exchanges.push(exchange);
      exchange.reply = await take(script, request, nextId);
      if (exchange.reply.kind === 'answer') {
        counts.inputTokens += exchange.reply.usage.inputTokens;
        counts.outputTokens += exchange.reply.usage.outputTokens;
      }
      return exchange.reply;
    },
  };
}

async function take(script: Script, request: ScriptedRequest, nextId: () => string): Promise<Reply> {
  if (typeof script !== 'function') {
    const turn = script[request.index];
    if (turn !== undefined) return buildReply(turn, request, nextId);
    const message = `The script has ${script.length} turns and this is request ${request.index + 1}: add a turn.`;
    return errorReply(400, 'script_ended', message);
  }
  try {
    return buildReply(await script(request), request, nextId);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return errorReply(400, 'script_failed', `The script threw: ${message}`);
  }
}

/** Function names that most providers accept. */
const FUNCTION_NAME = /^[A-Za-z0-9_-]{1,64}$/;

function findProblem({ messages, tools }: Omit<ScriptedRequest, 'index'>): string | null {
  const [first] = checkTranscript(messages);
  if (first !== undefined) return `messages[${first.index}]: ${first.message} (${first.rule})`;
  const hasCalls = messages.some((message) => message.role === 'assistant' && message.calls.length > 0);
  if (hasCalls && tools.length === 0) return 'tools: messages with calls or results of tools need the tools declared';
  const names = tools.map((tool) => tool.name);
  const odd = names.find((name) => !FUNCTION_NAME.test(name));
  if (odd !== undefined) return `tools: the name ${odd.slice(0, 80)} does not match ${FUNCTION_NAME.source}`;
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) return `tools: two functions are named ${twice}`;
  const shapeless = tools.find((tool) => !isObjectSchema(tool.parameters));
  return shapeless === undefined ? null : `tools: the parameters of ${shapeless.name} are no schema of type object`;
}

const isObjectSchema = (schema: unknown): boolean =>
  typeof schema === 'object' && schema !== null && (schema as { type?: unknown }).type === 'object';
