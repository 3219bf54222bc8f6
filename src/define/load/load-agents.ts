import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { AgentsFolderError, firstLineOf } from './agents-folder-error.ts';
import { agentsInExports } from './agents-in-exports.ts';
import type { Agent } from '../define-agent.ts';
import { isTool } from '../define-tool.ts';
import { loadFile } from './load-file.ts';
import { createRegistry, type Registry } from '../registry.ts';
import { helpWithTypeScript } from './typescript-loader.ts';

/** Sources and what they compile to; declarations, tests and what begins with `.` or `_` are not agents. */
const isAgentFile = (name: string): boolean =>
  /^[^._].*\.(?:ts|mts|js|mjs)$/.test(name) && !/\.(?:d\.m?ts|test\.m?[jt]s)$/.test(name);

const FILE_DEADLINE_MS = 30_000;

/**
 * Every agent that the files of a folder export, by default or by name, alone, in a list or as a promise, beside those that are
 * there anyway. Other exports, such as tools that several agents share, are left alone.
 */
export async function loadAgents(
  folder: string,
  builtIn: readonly Agent[] = [],
  { fileDeadlineMs = FILE_DEADLINE_MS }: { fileDeadlineMs?: number } = {},
): Promise<Registry> {
  const files = await filesIn(folder);
  if (files.some((file) => /\.m?ts$/.test(file))) await helpWithTypeScript(folder);
  const origin = new Map<string, { agent: Agent; file: string }>();
  for (const agent of builtIn) origin.set(agent.name, { agent, file: 'Secondwind itself' });
  const seen: string[] = [];
  let found = 0;
  for (const file of files) {
    const { agents, others } = agentsInExports(await loadFile(join(folder, file), file, fileDeadlineMs));
    for (const { name, agent } of agents) {
      checkTools(agent, name, file);
      const before = origin.get(agent.name);
      if (before !== undefined && before.agent !== agent) {
        const where = before.file === file ? `twice in ${file}` : `in ${before.file} and in ${file}`;
        throw new AgentsFolderError(`The agent ${agent.name} is defined ${where}.`, 'Give one of them another name.');
      }
      origin.set(agent.name, { agent, file });
      found += 1;
    }
    for (const { name, what } of others.filter(({ wasMeant }) => wasMeant)) {
      process.emitWarning(`${file} exports ${what} as ${name}, which is no agent and is left alone.`);
    }
    const exported = others.map(({ name, what }) => `${name}: ${what}`).slice(0, 5);
    seen.push(exported.length === 0 ? file : `${file} (${exported.join(', ')})`);
  }
  if (found === 0) {
    const looked = files.length === 0 ? 'it has no .ts, .js or .mjs file' : `looked in ${seen.join(', ')}`;
    throw new AgentsFolderError(
      `There is no agent in ${folder}: ${looked}.`,
      'Export one: export default defineAgent({ name, tools, … }).',
    );
  }
  try {
    return createRegistry([...origin.values()].map(({ agent }) => agent));
  } catch (error) {
    throw new AgentsFolderError(firstLineOf(error), `Mend the agents in ${folder}.`, error);
  }
}

async function filesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter(isAgentFile).toSorted();
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new AgentsFolderError(`${folder} cannot be read (${why}).`, 'Name a folder with agents.', error);
  }
}

/** Another copy of this package may have let it through. */
function checkTools(agent: Agent, name: string, file: string): void {
  if (agent.tools.every(isTool)) return;
  const what = `The agent ${agent.name} (${name}) in ${file} has a tool that was not made by defineTool.`;
  throw new AgentsFolderError(what, 'Make its tools with defineTool, commandTool, httpTool or mcpTools.');
}
