/** The only module that imports the MCP client. */
import { defined } from '../../protocol/json.ts';
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

/** How much of the server's stderr is kept for error messages. */
const STDERR_CHARS = 2_000;
const PING_MS = 2_000;
/** The largest message of a server that runs as a process. A larger one closes the connection. */
const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;

/** Returns a connection that opens with the first call, and again with the first call after it broke. */
export function openMcpConnection(server: McpServer, connectTimeoutMs: number): McpConnection {
  let open: Promise<Link> | null = null;
  let isClosed = false;

  const connect = async (): Promise<Link> => {
    if (isClosed) throw new McpUnreachable('the connection was closed by close()');
    if (open !== null) return open;
    const attempt = openLink(server, connectTimeoutMs, () => forget(attempt));
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
        if (how.signal.aborted || codeOf(error) === SdkErrorCode.RequestTimeout) void closeIfUnresponsive(link);
        else if (isBroken(error)) void link.close();
        throw addCloseReason(error, link);
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

/** One open connection. */
interface Link {
  client: Client;
  /** The end of what the server wrote to stderr. */
  lastStderr(): string;
  /** The number of calls that wait for an answer. */
  calls: number;
  /** The number of calls that waited when a message was too large; null if none was. */
  callsWhenTooLarge: number | null;
  close(): Promise<void>;
}

async function openLink(server: McpServer, timeout: number, onGone: () => void): Promise<Link> {
  const client = new Client({ name: 'secondwind', version: ownVersion() });
  let stderr = '';
  const transport = transportOf(server, (text) => {
    stderr = (stderr + text).slice(-STDERR_CHARS);
  });
  const link: Link = {
    client,
    lastStderr: () => stderr.trim().split('\n').at(-1) ?? '',
    calls: 0,
    callsWhenTooLarge: null,
    close: async () => {
      onGone();
      await client.close().catch(() => {});
    },
  };
  Object.assign(client, {
    onclose: onGone,
    // Calls report their own errors, except for a message that is too large: the call then sees only a closed connection.
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
    const words = link.lastStderr();
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
    ...defined({ cwd: server.cwd }),
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
      // The output schema is left out: the client would report an answer that violates it as invalid arguments.
      { signal, timeout: timeoutMs, toolDefinition: { name: info.name, inputSchema: info.inputSchema } },
    );
  } catch (error) {
    if (codeOf(error) !== STREAM_LOST) throw error;
    throw new SdkError(SdkErrorCode.ConnectionClosed, 'the connection broke before the answer', undefined, {
      cause: error,
    });
  }
}

/** Our own code, outside the ranges that JSON-RPC and servers use. */
const STREAM_LOST = 7_001;

/** Fails a call at once when the stream of its answer breaks. The client itself would wait for its timeout. */
class HttpTransport extends StreamableHTTPClientTransport {
  override send(...[message, options]: Parameters<StreamableHTTPClientTransport['send']>): Promise<void> {
    if (Array.isArray(message) || !isJSONRPCRequest(message)) return super.send(message, options);
    const { id } = message;
    // This also fires after an answer, when the id is no longer waited for.
    const onRequestStreamEnd = (): void =>
      this.onmessage?.({ jsonrpc: '2.0', id, error: { code: STREAM_LOST, message: 'stream lost' } });
    return super.send(message, { ...options, onRequestStreamEnd });
  }
}

const codeOf = (error: unknown): unknown => (error as { code?: unknown } | null)?.code;

/** Whether the connection cannot be used after this error. An answer, even one with an error, shows that it works. */
function isBroken(error: unknown): boolean {
  if (error instanceof ProtocolError) return false;
  return !(error instanceof SdkHttpError) || isSessionGone(error);
}

/** After a timeout, pings the server and closes the connection if it does not answer at all. */
async function closeIfUnresponsive(link: Link): Promise<void> {
  try {
    await link.client.ping({ timeout: PING_MS });
  } catch {
    await link.close();
  }
}

/** Adds the reason why the connection closed, if it is known: a message that was too large, or the server's stderr. */
function addCloseReason(error: unknown, link: Link): unknown {
  if (codeOf(error) !== SdkErrorCode.ConnectionClosed) return error;
  const { callsWhenTooLarge } = link;
  if (callsWhenTooLarge !== null) {
    const told = `an answer was larger than ${MAX_MESSAGE_BYTES} bytes, so the connection was closed; request less data`;
    // With other calls in progress it is unknown whose answer it was, so each of them may be retried.
    if (callsWhenTooLarge === 1) return Object.assign(new Error(told, { cause: error }), { code: ANSWER_TOO_LARGE });
    return new SdkError(SdkErrorCode.ConnectionClosed, told, undefined, { cause: error });
  }
  const words = link.lastStderr();
  if (words === '') return error;
  return new SdkError(
    SdkErrorCode.ConnectionClosed,
    `the server has exited; its last output was: ${words}`,
    undefined,
    {
      cause: error,
    },
  );
}

/** package.json is three folders up, both from `src` and from `dist`. */
function ownVersion(): string {
  const file = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  return file.version;
}
