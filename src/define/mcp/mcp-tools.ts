import { z } from 'zod';
import { createRedactor } from '../../core/redaction/redact.ts';
import { shortenToBytes } from '../../core/transcript/shorten-to-bytes.ts';
import { sha256Hex } from '../../protocol/ids.ts';
import { defined, isRecord } from '../../protocol/json.ts';
import type { ToolEffect } from '../../protocol/tools.ts';
import { defineTool, type Tool, type ToolContext } from '../define-tool.ts';
import { errorFromCall, errorFromResult } from './mcp-failures.ts';
import type { McpConnection, McpResult, McpToolInfo } from './mcp-connection.ts';
import { findServerSecrets } from './server-secrets.ts';
import { isUsableSchema } from '../usable-schema.ts';

/** An MCP (Model Context Protocol) server: a command to start, or a URL. */
export type McpServer = McpServerCommon & (McpCommand | McpAddress);

/** The options of every MCP server. */
export interface McpServerCommon {
  /** The prefix of its tools, which are named `<name>.<tool>`. */
  name: string;
  /** The longest that one call may take. Default: 60 seconds. */
  timeoutMs?: number;
  /** The longest that starting the server and connecting may take. Default: 15 seconds. */
  connectTimeoutMs?: number;
  /** The most bytes of one output; longer text is cut in the middle. Default: 64 KB. */
  maxOutputBytes?: number;
  /** Use only these tools, by the names that the server gives them. Default: all. */
  only?: readonly string[];
  /** The effects of tools, by the names that the server gives them. They override the hints of the server. */
  effects?: Readonly<Record<string, ToolEffect>>;
}
/** An MCP server that is started as a process. */
export interface McpCommand {
  command: string;
  args?: readonly string[];
  /** Environment variables, in addition to PATH, HOME and the like. */
  env?: Readonly<Record<string, string>>;
  cwd?: string;
  url?: undefined;
}
/** An MCP server that is reached over HTTP. */
export interface McpAddress {
  url: string;
  /** Headers of every request, such as `Authorization`. */
  headers?: Readonly<Record<string, string>>;
  command?: undefined;
}

/** The list of tools that `mcpTools` returns. */
export interface McpTools extends Array<Tool> {
  /** The tools that were left out because they cannot be used, with the reason. */
  problems: McpToolProblem[];
  /** Closes the connection and ends a server that was started as a process. */
  close(): Promise<void>;
}
/** A tool of the server that cannot be used. */
export interface McpToolProblem {
  tool: string;
  message: string;
}

const DEFAULT_TIMEOUT_MS = 60_000;
const DEFAULT_CONNECT_TIMEOUT_MS = 15_000;
const DEFAULT_OUTPUT_BYTES = 64 * 1024;
const SERVER_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,31}$/;

/**
 * Connects to an MCP server and makes tools of what it offers. All tools share one connection; if it breaks, the next call opens a
 * new one.
 *
 * Returns the list of tools, with `problems` and `close()`. Throws a `TypeError` if the options are invalid, and an `Error` without
 * secrets if the server cannot be reached or lacks a tool of `only`.
 *
 * @example
 * ```ts
 * const notes = await mcpTools({ name: 'notes', command: 'node', args: ['notes-server.mjs'] });
 * const agent = defineAgent({ name: 'writer', instructions: 'Keep notes.', tools: notes });
 * ```
 */
export async function mcpTools(server: McpServer): Promise<McpTools> {
  checkServer(server);
  // Imported here, so that processes without MCP tools do not load the MCP client.
  const { openMcpConnection } = await import('./mcp-connection.ts');
  const connection = openMcpConnection(server, server.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS);
  try {
    const offered = await connection.listTools();
    return makeTools(server, connection, offered);
  } catch (error) {
    await connection.close();
    const reason = reasonOf(error);
    const where = server.url ?? server.command;
    const redact = createRedactor(findServerSecrets(server));
    // oxlint-disable-next-line preserve-caught-error -- the cause would carry the message before redaction
    throw new Error(redact(`The MCP server ${server.name} (${where}) cannot be used: ${reason}`));
  }
}

function checkServer(server: McpServer): void {
  const { name } = server;
  if (!SERVER_NAME.test(name)) {
    throw new TypeError(`The MCP server name "${name.slice(0, 80)}" is invalid. It must match ${SERVER_NAME.source}.`);
  }
  if ((server.command === undefined) === (server.url === undefined)) {
    throw new TypeError(`The MCP server ${name} needs either a command or a url, and not both.`);
  }
  if (server.url !== undefined && !/^https?:$/.test(URL.canParse(server.url) ? new URL(server.url).protocol : '')) {
    throw new TypeError(`The url of the MCP server ${name} is not an http or https URL.`);
  }
}

function makeTools(server: McpServer, connection: McpConnection, offered: McpToolInfo[]): McpTools {
  const { only } = server;
  const names = offered.map((info) => info.name);
  const missing = only?.find((name) => !names.includes(name));
  if (missing !== undefined) throw new TypeError(`it has no tool named ${missing}; it has: ${names.join(', ')}`);

  const tools: Tool[] = [];
  const problems: McpToolProblem[] = [];
  for (const info of offered) {
    if (only !== undefined && !only.includes(info.name)) continue;
    try {
      const tool = makeTool(server, connection, info);
      if (tools.some((other) => other.name === tool.name)) throw new TypeError(`two tools would be named ${tool.name}`);
      tools.push(tool);
    } catch (error) {
      problems.push({ tool: info.name, message: reasonOf(error) });
    }
  }
  for (const { tool, message } of problems) {
    process.emitWarning(`The tool ${tool} of the MCP server ${server.name} is left out: ${message}`);
  }
  return Object.assign(tools, { problems, close: () => connection.close() });
}

function makeTool(server: McpServer, connection: McpConnection, info: McpToolInfo): Tool {
  const timeoutMs = server.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const effect = server.effects?.[info.name] ?? effectOf(info);
  return defineTool({
    name: toolName(server.name, info.name),
    ...defined({ description: info.description }),
    effect,
    input: toInputSchema(info.inputSchema),
    output: outputSchema(info),
    timeoutMs,
    secrets: findServerSecrets(server),
    run: (input, context) =>
      callTool({ server, connection, info, effect, timeoutMs }, input as Record<string, unknown>, context),
  });
}

const MAX_NAME = 64;

/** MCP allows characters and lengths in tool names that we do not. */
function toolName(server: string, tool: string): string {
  const name = `${server}.${tool.replaceAll(/[^A-Za-z0-9_.-]/g, '_')}`;
  return name.length <= MAX_NAME ? name : `${name.slice(0, MAX_NAME - 9)}-${sha256Hex(tool).slice(0, 8)}`;
}

/** A tool without hints counts as a side effect, which is the safest assumption. */
function effectOf({ annotations }: McpToolInfo): ToolEffect {
  if (annotations?.readOnlyHint === true) return 'read';
  return annotations?.idempotentHint === true ? 'idempotent' : 'side_effect';
}

/** If zod cannot express the JSON Schema, the model gets the schema as it is and the server checks the input. */
function toInputSchema(schema: McpToolInfo['inputSchema']): z.ZodType {
  try {
    return z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
  } catch (error) {
    if (!isUsableSchema(schema)) {
      throw new TypeError(`its input schema cannot be read: ${reasonOf(error)}`, { cause: error });
    }
    const { id: _id, $schema: _version, ...shown } = schema;
    return z.unknown().refine(isRecord, { error: 'expected an object' }).meta(shown);
  }
}

/** If zod cannot express the schema, the output is not checked. */
function toDataSchema(schema: NonNullable<McpToolInfo['outputSchema']>): z.ZodType {
  try {
    return z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
  } catch {
    return z.unknown();
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The output of a call: the text of the server, and its structured data if it has any. */
const outputSchema = ({ outputSchema: declared }: McpToolInfo) =>
  z.object({
    text: z.string(),
    structured: declared === undefined ? z.unknown().optional() : toDataSchema(declared).optional(),
    truncated: z.literal(true).optional(),
  });
type McpOutput = z.infer<ReturnType<typeof outputSchema>>;

interface McpCall {
  server: McpServer;
  connection: McpConnection;
  info: McpToolInfo;
  effect: ToolEffect;
  timeoutMs: number;
}

async function callTool(
  { server, connection, info, effect, timeoutMs }: McpCall,
  input: Record<string, unknown>,
  context: ToolContext,
): Promise<McpOutput> {
  const { signal, idempotencyKey, constraints } = context;
  context.throwIfExpired();
  let result: McpResult;
  try {
    result = await connection.callTool(info, input, { signal, idempotencyKey, timeoutMs });
  } catch (error) {
    signal.throwIfAborted();
    throw errorFromCall(error, server.name, effect);
  }
  const most = Math.min(
    server.maxOutputBytes ?? DEFAULT_OUTPUT_BYTES,
    constraints.max_output_bytes ?? Number.POSITIVE_INFINITY,
  );
  const output = boundedOutput(result, most);
  if (result.isError === true) throw errorFromResult(output.text, server.name, effect);
  return output;
}

/** Cuts text in the middle. Structured data that is too large is left out, because cut JSON is useless. */
function boundedOutput({ content, structuredContent }: McpResult, most: number): McpOutput {
  const whole = content.map(describeBlock).join('\n');
  const data = structuredContent === undefined ? '' : JSON.stringify(structuredContent);
  const keepsData = structuredContent !== undefined && Buffer.byteLength(data) <= most;
  const text = shortenToBytes(whole, most);
  const isCut = text !== whole || (structuredContent !== undefined && !keepsData);
  return {
    text,
    ...(keepsData ? { structured: structuredContent } : {}),
    ...(isCut ? { truncated: true as const } : {}),
  };
}

/** Images and audio are described and not included. */
function describeBlock(block: McpResult['content'][number]): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'resource':
      return 'text' in block.resource ? block.resource.text : `[${block.resource.uri}]`;
    case 'resource_link':
      return `[${block.uri}]`;
    case 'image':
    case 'audio':
      return `[${block.type} ${block.mimeType}, ${block.data.length} characters of base64]`;
    default:
      return '[content of an unsupported type]';
  }
}
