import { readdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { AgentsFolderError, firstLineOf } from './agents-folder-error.ts';
import { agentsInExports } from './agents-in-exports.ts';
import type { Agent } from '../define-agent.ts';
import { isTool } from '../define-tool.ts';
import { loadFile } from './load-file.ts';
import { createRegistry, type Registry } from '../registry.ts';

/** TypeScript and JavaScript files, except declarations, tests and names that begin with `.` or `_`. */
const isAgentFile = (name: string): boolean =>
  /^[^._].*\.(?:ts|mts|js|mjs)$/.test(name) && !/\.(?:d\.m?ts|test\.m?[jt]s)$/.test(name);

const FILE_DEADLINE_MS = 30_000;

/**
 * Loads every agent that the files of a folder export, by default or by name, single, in a list or as a promise, and adds them to
 * the built-in ones. Other exports, such as tools that several agents share, are ignored. Throws `AgentsFolderError`.
 */
export async function loadAgents(
  folder: string,
  builtIn: readonly Agent[] = [],
  { fileDeadlineMs = FILE_DEADLINE_MS }: { fileDeadlineMs?: number } = {},
): Promise<Registry> {
  const files = await filesIn(folder);
  if (files.some((file) => /\.m?ts$/.test(file))) await registerTypeScriptLoader(folder);
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
      process.emitWarning(`${file} exports ${what} as ${name}. It is ignored because it is not an agent.`);
    }
    const exported = others.map(({ name, what }) => `${name}: ${what}`).slice(0, 5);
    seen.push(exported.length === 0 ? file : `${file} (${exported.join(', ')})`);
  }
  if (found === 0) {
    const looked = files.length === 0 ? 'it has no .ts, .js or .mjs file' : `looked in ${seen.join(', ')}`;
    throw new AgentsFolderError(
      `There is no agent in ${folder}: ${looked}.`,
      'Export an agent from a file in it: export default defineAgent({ name, tools, … }).',
    );
  }
  try {
    return createRegistry([...origin.values()].map(({ agent }) => agent));
  } catch (error) {
    throw new AgentsFolderError(firstLineOf(error), `Correct the agents in ${folder} and start again.`, error);
  }
}

async function filesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter(isAgentFile).toSorted();
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new AgentsFolderError(`${folder} cannot be read (${why}).`, 'Name a folder that contains agents.', error);
  }
}

/** `defineAgent` checks this too, but the agent may come from another copy of this package. */
function checkTools(agent: Agent, name: string, file: string): void {
  if (agent.tools.every(isTool)) return;
  const what = `The agent ${agent.name} (${name}) in ${file} has a tool that was not made by defineTool.`;
  throw new AgentsFolderError(what, 'Make its tools with defineTool, commandTool, httpTool or mcpTools.');
}

/** Whether this Node can load TypeScript, by itself or with a loader. */
const readsTypeScript = (): boolean =>
  Boolean((process.features as { typescript?: unknown }).typescript) ||
  import.meta.url.endsWith('.ts') ||
  /(?:--import|--loader|--require|-r)[= ]\S*tsx/.test(
    [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''].join(' '),
  );

/** If this Node cannot load TypeScript, registers the tsx that is installed for the folder, if there is one. */
async function registerTypeScriptLoader(folder: string): Promise<void> {
  if (readsTypeScript()) return;
  try {
    await import(pathToFileURL(createRequire(join(resolve(folder), 'agents.js')).resolve('tsx')).href);
  } catch {
    // tsx is not installed. Loading the first file then fails with an error that says what to do.
  }
}
