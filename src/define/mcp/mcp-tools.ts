import { z } from 'zod';
import { createRedactor } from '../../core/redaction/redact.ts';
import { boundedText } from '../../core/transcript/bounded-text.ts';
import { sha256Hex } from '../../protocol/ids.ts';
import { isRecord } from '../../protocol/json.ts';
import type { ToolEffect } from '../../protocol/tools.ts';
import { defineTool, type Tool, type ToolContext } from '../define-tool.ts';
import { errorOfCall, errorOfResult } from './mcp-failures.ts';
import type { McpConnection, McpResult, McpToolInfo } from './connection.ts';
import { secretsOfServer } from './secrets-of-server.ts';
import { isUsableSchema } from '../usable-schema.ts';

/** A server of the Model Context Protocol: a command to start, or an address. */
export type McpServer = McpServerCommon & (McpCommand | McpAddress);

export interface McpServerCommon {
  /** The tools are called `<name>.<tool>`. */
  name: string;
  /** For one call; 60 seconds unless told. */
  timeoutMs?: number;
  /** To start the server and greet it; 15 seconds unless told. */
  connectTimeoutMs?: number;
  /** What one call may give back; longer text is cut in the middle. 64 KB unless told. */
  maxOutputBytes?: number;
  /** Only these tools of the server, by its own names. */
  only?: readonly string[];
  /** What tools really do, by the server's names: its hints are hints. */
  effects?: Readonly<Record<string, ToolEffect>>;
}
export interface McpCommand {
  command: string;
  args?: readonly string[];
  /** Added to the few variables that every server gets (PATH, HOME and the like). */
  env?: Readonly<Record<string, string>>;
  cwd?: string;
  url?: undefined;
}
export interface McpAddress {
  url: string;
  /** An `Authorization`, for example. */
  headers?: Readonly<Record<string, string>>;
  command?: undefined;
}

/** The tools of one server, and the way to leave it. */
export interface McpTools extends Array<Tool> {
  /** Tools that the server offers and that cannot be used, with the reason. */
  problems: McpToolProblem[];
  close(): Promise<void>;
}
export interface McpToolProblem {
  tool: string;
  message: string;
}

const DEFAULT_TIMEOUT_MS = 60_000;
const DEFAULT_CONNECT_TIMEOUT_MS = 15_000;
const DEFAULT_OUTPUT_BYTES = 64 * 1024;
const SERVER_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,31}$/;

/**
 * The tools of an MCP server, as tools like any other. One connection serves them all; when it breaks, the next call
 * makes a new one.
 */
export async function mcpTools(server: McpServer): Promise<McpTools> {
  checkServer(server);
  // The MCP client is loaded by those who use one, not by everybody who defines a tool.
  const { openMcpConnection } = await import('./connection.ts');
  const connection = openMcpConnection(server, server.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS);
  try {
    const offered = await connection.listTools();
    return toolsOf(server, connection, offered);
  } catch (error) {
    await connection.close();
    const reason = reasonOf(error);
    const where = server.url ?? server.command;
    const redact = createRedactor(secretsOfServer(server));
    // oxlint-disable-next-line preserve-caught-error -- the cause would carry the words as they were
    throw new Error(redact(`The MCP server ${server.name} (${where}) cannot be used: ${reason}`));
  }
}

function checkServer(server: McpServer): void {
  const { name } = server;
  if (!SERVER_NAME.test(name)) {
    throw new TypeError(`The name of an MCP server matches ${SERVER_NAME.source}; got ${name.slice(0, 80)}`);
  }
  if ((server.command === undefined) === (server.url === undefined)) {
    throw new TypeError(`The MCP server ${name} needs either a command or a url.`);
  }
  if (server.url !== undefined && !/^https?:$/.test(URL.canParse(server.url) ? new URL(server.url).protocol : '')) {
    throw new TypeError(`The url of the MCP server ${name} is no http or https address.`);
  }
}

function toolsOf(server: McpServer, connection: McpConnection, offered: McpToolInfo[]): McpTools {
  const { only } = server;
  const names = offered.map((info) => info.name);
  const missing = only?.find((name) => !names.includes(name));
  if (missing !== undefined) throw new TypeError(`it has no tool named ${missing}; it has: ${names.join(', ')}`);

  const tools: Tool[] = [];
  const problems: McpToolProblem[] = [];
  for (const info of offered) {
    if (only !== undefined && !only.includes(info.name)) continue;
    try {
      const tool = toolOf(server, connection, info);
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

function toolOf(server: McpServer, connection: McpConnection, info: McpToolInfo): Tool {
  const timeoutMs = server.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  return defineTool({
    name: toolName(server.name, info.name),
    ...(info.description === undefined ? {} : { description: info.description }),
    effect: server.effects?.[info.name] ?? effectOf(info),
    input: inputSchemaOf(info.inputSchema),
    output: outputSchema(info),
    timeoutMs,
    secrets: secretsOfServer(server),
    run: (input, context) => callTool(server, connection, info, input as Record<string, unknown>, context, timeoutMs),
  });
}

const MAX_NAME = 64;

/** Names of tools are narrower here than with MCP. */
function toolName(server: string, tool: string): string {
  const name = `${server}.${tool.replaceAll(/[^A-Za-z0-9_.-]/g, '_')}`;
  return name.length <= MAX_NAME ? name : `${name.slice(0, MAX_NAME - 9)}-${sha256Hex(tool).slice(0, 8)}`;
}

/** A tool that says nothing of itself is taken for one that does things. */
function effectOf({ annotations }: McpToolInfo): ToolEffect {
  if (annotations?.readOnlyHint === true) return 'read';
  return annotations?.idempotentHint === true ? 'idempotent' : 'side_effect';
}

/** JSON Schema says more than zod can check: then the model is shown it as it is, and the server checks. */
function inputSchemaOf(schema: McpToolInfo['inputSchema']): z.ZodType {
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

/** Data is checked as far as its schema can be. */
function dataSchemaOf(schema: NonNullable<McpToolInfo['outputSchema']>): z.ZodType {
  try {
    return z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
  } catch {
    return z.unknown();
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** What a call gives back: the words of the server, and its data where it has some. */
const outputSchema = ({ outputSchema: declared }: McpToolInfo) =>
  z.object({
    text: z.string(),
    structured: declared === undefined ? z.unknown().optional() : dataSchemaOf(declared).optional(),
    truncated: z.literal(true).optional(),
  });
type McpOutput = z.infer<ReturnType<typeof outputSchema>>;

async function callTool(
  server: McpServer,
  connection: McpConnection,
  info: McpToolInfo,
  input: Record<string, unknown>,
  { signal, idempotencyKey, constraints }: ToolContext,
  timeoutMs: number,
): Promise<McpOutput> {
  let result: McpResult;
  try {
    result = await connection.callTool(info, input, { signal, idempotencyKey, timeoutMs });
  } catch (error) {
    signal.throwIfAborted();
    throw errorOfCall(error, server.name);
  }
  const most = Math.min(
    server.maxOutputBytes ?? DEFAULT_OUTPUT_BYTES,
    constraints.max_output_bytes ?? Number.POSITIVE_INFINITY,
  );
  const output = boundedOutput(result, most);
  if (result.isError === true) throw errorOfResult(output.text, server.name);
  return output;
}

/** Data is kept whole or not at all; text is cut in the middle. */
function boundedOutput({ content, structuredContent }: McpResult, most: number): McpOutput {
  const whole = content.map(blockText).join('\n');
  const data = structuredContent === undefined ? '' : JSON.stringify(structuredContent);
  const keepsData = structuredContent !== undefined && Buffer.byteLength(data) <= most;
  const text = boundedText(whole, most);
  const isCut = text !== whole || (structuredContent !== undefined && !keepsData);
  return {
    text,
    ...(keepsData ? { structured: structuredContent } : {}),
    ...(isCut ? { truncated: true as const } : {}),
  };
}

/** Pictures and sounds are told of, not carried. */
function blockText(block: McpResult['content'][number]): string {
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
      return '[a kind of content that is not known here]';
  }
}
