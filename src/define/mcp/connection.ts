/** The only module that loads the MCP client. */
import { readFileSync } from 'node:fs';
import {
  type CallToolResult,
  Client,
  isJSONRPCRequest,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  StreamableHTTPClientTransport,
  type Tool as OfferedTool,
  type Transport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { ANSWER_TOO_LARGE, isSessionGone, McpUnreachable } from './mcp-failures.ts';
import type { McpServer } from './mcp-tools.ts';

export type McpToolInfo = Pick<OfferedTool, 'name' | 'description' | 'inputSchema' | 'outputSchema' | 'annotations'>;
export type McpResult = Pick<CallToolResult, 'content' | 'structuredContent' | 'isError'>;

export interface McpConnection {
  listTools(): Promise<McpToolInfo[]>;
  callTool(info: McpToolInfo, input: Record<string, unknown>, how: CallOptions): Promise<McpResult>;
  close(): Promise<void>;
}
interface CallOptions {
  signal: AbortSignal;
  idempotencyKey: string;
  timeoutMs: number;
}

/** What a server may say on its error output before it counts as old news. */
const STDERR_CHARS = 2_000;
const PING_MS = 2_000;
/** Of one message of a server that is a process; a longer one closes the connection. */
const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;

/** Nothing is opened yet: the first call does that, and each call after the connection broke. */
export function openMcpConnection(server: McpServer, connectTimeoutMs: number): McpConnection {
  let open: Promise<Link> | null = null;
  let isClosed = false;

  const connect = async (): Promise<Link> => {
    if (isClosed) throw new McpUnreachable('the connection was closed by its owner');
    if (open !== null) return open;
    const attempt = dial(server, connectTimeoutMs, () => forget(attempt));
    open = attempt;
    attempt.catch(() => forget(attempt));
    return attempt;
  };
  const forget = (attempt: Promise<Link>): void => {
    if (open === attempt) open = null;
  };

  return {
    async listTools() {
      const { client } = await connect();
      const { tools } = await client.listTools(undefined, { timeout: connectTimeoutMs });
      return tools;
    },
    async callTool(info, input, how) {
      const link = await connect();
      link.calls += 1;
      try {
        return await request(link, info, input, how);
      } catch (error) {
        if (how.signal.aborted || codeOf(error) === SdkErrorCode.RequestTimeout) void closeIfDeaf(link);
        else if (isBroken(error)) void link.close();
        throw withReason(error, link);
      } finally {
        link.calls -= 1;
      }
    },
    async close() {
      isClosed = true;
      const link = await open?.catch(() => null);
      await link?.close();
    },
  };
}

/** One life of the connection. */
interface Link {
  client: Client;
  /** What the server wrote last on its error output. */
  lastWords(): string;
  /** How many calls wait for their answers. */
  calls: number;
  /** How many waited when a message came that was too long; null while none has. */
  callsWhenTooLarge: number | null;
  close(): Promise<void>;
}

async function dial(server: McpServer, timeout: number, onGone: () => void): Promise<Link> {
  const client = new Client({ name: 'secondwind', version: ownVersion() });
  let stderr = '';
  const transport = transportOf(server, (text) => {
    stderr = (stderr + text).slice(-STDERR_CHARS);
  });
  const link: Link = {
    client,
    lastWords: () => stderr.trim().split('\n').at(-1) ?? '',
    calls: 0,
    callsWhenTooLarge: null,
    close: async () => {
      onGone();
      await client.close().catch(() => {});
    },
  };
  Object.assign(client, {
    onclose: onGone,
    // What breaks a call is told by that call; only of a message that is too long the call hears nothing but the end.
    onerror: (error: Error) => {
      if (error.message.includes('exceeded maximum size')) link.callsWhenTooLarge = link.calls;
    },
  });
  try {
    await client.connect(transport, { timeout });
    return link;
  } catch (error) {
    await link.close();
    const reason = error instanceof Error ? error.message : String(error);
    const words = link.lastWords();
    throw new McpUnreachable(words === '' ? reason : `${reason} (${words})`, { cause: error });
  }
}

function transportOf(server: McpServer, onStderr: (text: string) => void): Transport {
  if (server.url !== undefined) {
    return new HttpTransport(new URL(server.url), { requestInit: { headers: { ...server.headers } } });
  }
  const transport = new StdioClientTransport({
    command: server.command,
    args: [...(server.args ?? [])],
    env: { ...server.env },
    ...(server.cwd === undefined ? {} : { cwd: server.cwd }),
    stderr: 'pipe',
    maxBufferSize: MAX_MESSAGE_BYTES,
  });
  transport.stderr?.on('data', (chunk: Buffer) => onStderr(chunk.toString('utf8')));
  return transport;
}

async function request(
  { client }: Link,
  info: McpToolInfo,
  input: Record<string, unknown>,
  { signal, idempotencyKey, timeoutMs }: CallOptions,
): Promise<McpResult> {
  try {
    return await client.callTool(
      { name: info.name, arguments: input, _meta: { 'secondwind/idempotency-key': idempotencyKey } },
      // Without an output schema: an answer that breaks it must not look like arguments that do.
      { signal, timeout: timeoutMs, toolDefinition: { name: info.name, inputSchema: info.inputSchema } },
    );
  } catch (error) {
    if (codeOf(error) !== STREAM_LOST) throw error;
    throw new SdkError(SdkErrorCode.ConnectionClosed, 'the connection broke before the answer', undefined, {
      cause: error,
    });
  }
}

/** Of our own, outside what JSON-RPC and servers use. */
const STREAM_LOST = 7_001;

/** The client waits for its time-out when the stream that an answer comes on breaks; here the call is told at once. */
class HttpTransport extends StreamableHTTPClientTransport {
  override send(...[message, options]: Parameters<StreamableHTTPClientTransport['send']>): Promise<void> {
    if (Array.isArray(message) || !isJSONRPCRequest(message)) return super.send(message, options);
    const { id } = message;
    // Also fires after an answer: then nobody waits for this id any more.
    const onRequestStreamEnd = (): void =>
      this.onmessage?.({ jsonrpc: '2.0', id, error: { code: STREAM_LOST, message: 'stream lost' } });
    return super.send(message, { ...options, onRequestStreamEnd });
  }
}

const codeOf = (error: unknown): unknown => (error as { code?: unknown } | null)?.code;

/** After these the connection is of no use. An answer, even one with an error in it, shows that it works. */
function isBroken(error: unknown): boolean {
  if (error instanceof ProtocolError) return false;
  return !(error instanceof SdkHttpError) || isSessionGone(error);
}

/** Time ran out: is it the tool, or does the whole server not listen any more? */
async function closeIfDeaf(link: Link): Promise<void> {
  try {
    await link.client.ping({ timeout: PING_MS });
  } catch {
    await link.close();
  }
}

/** Why the connection is gone, where somebody knows: a message was too long, or a process that died said why. */
function withReason(error: unknown, link: Link): unknown {
  if (codeOf(error) !== SdkErrorCode.ConnectionClosed) return error;
  const { callsWhenTooLarge } = link;
  if (callsWhenTooLarge !== null) {
    const told = `an answer was larger than ${MAX_MESSAGE_BYTES} bytes, so the connection was closed; ask for less`;
    // With others under way nobody knows whose it was: each may be tried again.
    if (callsWhenTooLarge === 1) return Object.assign(new Error(told, { cause: error }), { code: ANSWER_TOO_LARGE });
    return new SdkError(SdkErrorCode.ConnectionClosed, told, undefined, { cause: error });
  }
  const words = link.lastWords();
  if (words === '') return error;
  return new SdkError(SdkErrorCode.ConnectionClosed, `the server is gone; its last words: ${words}`, undefined, {
    cause: error,
  });
}

/** Three folders up both from source and from `dist`. */
function ownVersion(): string {
  const file = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  return file.version;
}
