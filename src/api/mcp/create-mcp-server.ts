import { type CallToolResult, McpServer } from '@modelcontextprotocol/server';
import { SecondwindError } from '../../protocol/errors.ts';
import type { HttpClient } from '../../client/http/http-client.ts';
import { joinSentences } from '../../protocol/well-formed-text.ts';
import { MCP_TOOLS } from './offered-tools.ts';

export interface McpServerOptions {
  /** Called for each tool call, because the API may have started after the MCP server. */
  openClient: () => Promise<HttpClient>;
  version: string;
  /** Receives unexpected errors. It must not write to stdout, which carries the protocol. */
  log: (line: string) => void;
}

/** Creates an MCP server that offers the memory and the guards of Secondwind as tools. It has no transport yet. */
export function createMcpServer({ openClient, version, log }: McpServerOptions): McpServer {
  const server = new McpServer({ name: 'secondwind', version }, { capabilities: { tools: {} } });
  for (const tool of MCP_TOOLS) {
    const { name, description, input, readOnly } = tool;
    const annotations = { readOnlyHint: readOnly, destructiveHint: false, openWorldHint: false };
    server.registerTool(name, { description, inputSchema: input, annotations }, async (given, context) => {
      try {
        const answer = await tool.call(await openClient(), given, context.mcpReq.signal);
        return { content: [{ type: 'text', text: JSON.stringify(answer) }], structuredContent: { ...answer } };
      } catch (error) {
        return refusal(error, log);
      }
    });
  }
  return server;
}

/** Returns the error as a tool result, because a model can read it and act on it; it cannot see protocol errors. */
function refusal(error: unknown, log: (line: string) => void): CallToolResult {
  const isAllowedHost = error instanceof SecondwindError || (error instanceof Error && 'nextStep' in error);
  if (!isAllowedHost) log(`Unexpected: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  const { message, nextStep = 'Try again. The log of `secondwind mcp` has the details.' } = error as {
    message: string;
    nextStep?: string;
  };
  return { isError: true, content: [{ type: 'text', text: joinSentences(message, nextStep) }] };
}
