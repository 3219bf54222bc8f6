/** The tools of an MCP server as tools of an agent, here of a small server beside this file. */
import { fileURLToPath } from 'node:url';
import { defineAgent, mcpTools } from 'secondwind';

export const notes = await mcpTools({
  name: 'notes',
  command: process.execPath,
  args: [fileURLToPath(new URL('./notes-server.mjs', import.meta.url))],
});

export default defineAgent({
  name: 'note-reader',
  instructions: 'You answer from the notes. Read the note that you are asked about.',
  tools: [...notes],
});
