/**
 * An MCP server in its own process, with tools that misbehave on demand.
 * argv: `stdio`, or `http <port>`; with http the first line on stdout is the URL. `NOTES` names the file that its side
 * effects are written to.
 */
import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { serve } from '@hono/node-server';
import {
  type CallToolResult,
  Server,
  type Tool,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';

type Arguments = Record<string, unknown>;
type Offered = Omit<Tool, 'name'> & {
  run: (input: Arguments, meta: Record<string, unknown>, signal: AbortSignal) => Promise<CallToolResult>;
};

const said = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] });
const object = (
  properties: NonNullable<Tool['inputSchema']['properties']> = {},
  required: string[] = [],
): Tool['inputSchema'] => ({
  type: 'object',
  properties,
  required,
});
const note = (line: string): void => {
  if (process.env['NOTES'] !== undefined) appendFileSync(process.env['NOTES'], `${line}\n`);
};

const TOOLS: Record<string, Offered> = {
  read_note: {
    description: 'Reads a note',
    inputSchema: object({ id: { type: 'string' } }, ['id']),
    annotations: { readOnlyHint: true },
    run: async ({ id }) => said(`note ${String(id)}`),
  },
  set_note: {
    inputSchema: object(),
    annotations: { idempotentHint: true },
    run: async (_input, meta) => said(String(meta['secondwind/idempotency-key'])),
  },
  send_mail: {
    inputSchema: object({ to: { type: 'string' } }),
    run: async ({ to }) => {
      note(`mail ${String(to)}`);
      return said('sent');
    },
  },
  whoami: { inputSchema: object(), annotations: { readOnlyHint: true }, run: async () => said(String(process.pid)) },
  fail: {
    inputSchema: object({ words: { type: 'string' } }),
    run: async ({ words }) => ({ ...said(String(words)), isError: true }),
  },
  slow: {
    inputSchema: object(),
    annotations: { readOnlyHint: true },
    run: async (_input, _meta, signal) => {
      await sleep(60_000, undefined, { signal });
      return said('late');
    },
  },
  die: {
    inputSchema: object(),
    run: async () => {
      note('died');
      process.stderr.write('fatal: out of cheese\n');
      // The output has to be written before the process exits.
      await sleep(50);
      process.exit(1);
    },
  },
  freeze: {
    inputSchema: object(),
    run: async () => {
      for (;;);
    },
  },
  big: {
    inputSchema: object({ bytes: { type: 'number' } }),
    annotations: { readOnlyHint: true },
    run: async ({ bytes }) => said('x'.repeat(Number(bytes))),
  },
  measure: {
    inputSchema: object({ value: {} }),
    outputSchema: { type: 'object', properties: { celsius: { type: 'number' } }, required: ['celsius'] },
    annotations: { readOnlyHint: true },
    run: async ({ value }) => ({ ...said('measured'), structuredContent: { celsius: value } }),
  },
  picture: {
    inputSchema: object(),
    annotations: { readOnlyHint: true },
    run: async () => ({ content: [{ type: 'image', mimeType: 'image/png', data: 'AAAA' }] }),
  },
  odd_schema: { inputSchema: object({ x: { type: 'no such type' } }), run: async () => said('never') },
  /** A rule that zod cannot check: without `all`, a name is required. */
  conditional: {
    inputSchema: {
      ...object({ all: { type: 'boolean' }, name: { type: 'string' } }),
      if: { properties: { all: { const: true } }, required: ['all'] },
      else: { required: ['name'] },
      unevaluatedProperties: false,
    },
    annotations: { readOnlyHint: true },
    run: async (input) =>
      input['all'] === true || input['name'] !== undefined
        ? said(JSON.stringify(input))
        : { ...said('name is missing'), isError: true },
  },
  secret: {
    inputSchema: object(),
    annotations: { readOnlyHint: true },
    run: async () => ({ ...said(`${process.env['API_KEY']} is refused`), isError: true }),
  },
  'strange/name of a tool': { inputSchema: object(), run: async () => said('fine') },
};

function createServer(): Server {
  const server = new Server({ name: 'test', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({
    tools: Object.entries(TOOLS).map(([name, { run: _run, ...about }]) => ({ name, ...about })),
  }));
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const { _meta: meta = {} } = params;
    const tool = TOOLS[params.name];
    if (tool === undefined) return { ...said(`no tool ${params.name}`), isError: true };
    return tool.run(params.arguments ?? {}, meta, context.mcpReq.signal);
  });
  return server;
}

const [kind, port] = process.argv.slice(2);
if (kind === 'stdio') {
  await createServer().connect(new StdioServerTransport());
} else {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  serve(
    {
      port: Number(port ?? 0),
      hostname: '127.0.0.1',
      fetch: async (request: Request) => {
        if (request.headers.get('authorization') !== 'Bearer letmein') return new Response('no', { status: 401 });
        const known = request.headers.get('mcp-session-id');
        const session = known === null ? null : sessions.get(known);
        if (session === undefined) return new Response('Session not found', { status: 404 });
        if (session !== null) return session.handleRequest(request);
        const transport = new WebStandardStreamableHTTPServerTransport({
          sessionIdGenerator: () => randomUUID(),
          onsessioninitialized: (id) => void sessions.set(id, transport),
        });
        await createServer().connect(transport);
        return transport.handleRequest(request);
      },
    },
    ({ port: bound }) => process.stdout.write(`http://127.0.0.1:${bound}/mcp\n`),
  );
}
