/** An MCP server with one tool, over stdio. */
import { Server } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';

const NOTES = { milk: 'Two litres, by Friday.' };

const server = new Server({ name: 'notes', version: '1.0.0' }, { capabilities: { tools: {} } });
server.setRequestHandler('tools/list', () => ({
  tools: [
    {
      name: 'read_note',
      description: 'the text of a note by its title',
      inputSchema: { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] },
      annotations: { readOnlyHint: true },
    },
  ],
}));
server.setRequestHandler('tools/call', ({ params }) => {
  const text = NOTES[params.arguments?.title];
  return text === undefined
    ? { content: [{ type: 'text', text: 'there is no such note' }], isError: true }
    : { content: [{ type: 'text', text }] };
});
await server.connect(new StdioServerTransport());
