import { type CallToolResult, McpServer } from '@modelcontextprotocol/server';
import { SecondwindError } from '../../protocol/errors.ts';
import type { HttpClient } from '../../client/http/http-client.ts';
import { joinSentences } from '../../protocol/well-formed-text.ts';
import { MCP_TOOLS } from './offered-tools.ts';

export interface McpServerOptions {
  /** Opened anew for each call: a server that was not there at the start may be there now. */
  openClient: () => Promise<HttpClient>;
  version: string;
  /** Where what nobody foresaw is told; never stdout, which belongs to the protocol. */
  log: (line: string) => void;
}

/** The memory and the guards of Secondwind as tools of an MCP server. It has no transport yet. */
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

/** A model can act upon what is wrong and what to do; it is told as an error of the tool, not of the protocol. */
function refusal(error: unknown, log: (line: string) => void): CallToolResult {
  const isOurs = error instanceof SecondwindError || (error instanceof Error && 'nextStep' in error);
  if (!isOurs) log(`Unexpected: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  const { message, nextStep = 'Try again; the log of `secondwind mcp` has more.' } = error as {
    message: string;
    nextStep?: string;
  };
  return { isError: true, content: [{ type: 'text', text: joinSentences(message, nextStep) }] };
}
