import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Agent } from './define-agent.ts';
import { isTool } from './define-tool.ts';
import { createRegistry, type Registry } from './registry.ts';

/** A folder of agents that cannot be used as it is. Nothing was started. */
export class AgentsFolderError extends Error {
  override readonly name = 'AgentsFolderError';
  readonly code = 'bad_usage';
  readonly nextStep: string;

  constructor(message: string, nextStep: string, cause?: unknown) {
    super(message, { cause });
    this.nextStep = nextStep;
  }
}

/** Sources and what they compile to; declarations, tests and what begins with `.` or `_` are not agents. */
const isAgentFile = (name: string): boolean =>
  /^[^._].*\.(?:ts|mts|js|mjs)$/.test(name) && !/\.(?:d\.m?ts|test\.m?[jt]s)$/.test(name);

/**
 * Every agent that the files of a folder export, by default or by name, beside those that are there anyway. Other exports,
 * such as tools that several agents share, are left alone.
 */
export async function loadAgents(folder: string, builtIn: readonly Agent[] = []): Promise<Registry> {
  const files = await filesIn(folder);
  const origin = new Map<string, { agent: Agent; file: string }>();
  for (const agent of builtIn) origin.set(agent.name, { agent, file: 'Secondwind itself' });
  let found = 0;
  for (const file of files) {
    for (const agent of await agentsIn(join(folder, file), file)) {
      const before = origin.get(agent.name);
      if (before !== undefined && before.agent !== agent) {
        const where = before.file === file ? `twice in ${file}` : `in ${before.file} and in ${file}`;
        throw new AgentsFolderError(`The agent ${agent.name} is defined ${where}.`, 'Give one of them another name.');
      }
      origin.set(agent.name, { agent, file });
      found += 1;
    }
  }
  if (found === 0) {
    const looked = files.length === 0 ? 'it has no .ts, .js or .mjs file' : `looked in ${files.join(', ')}`;
    throw new AgentsFolderError(
      `There is no agent in ${folder}: ${looked}.`,
      'Export one: export default defineAgent({ name, tools, … }).',
    );
  }
  try {
    return createRegistry([...origin.values()].map(({ agent }) => agent));
  } catch (error) {
    throw new AgentsFolderError(messageOf(error), `Mend the agents in ${folder}.`, error);
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

async function agentsIn(path: string, file: string): Promise<Agent[]> {
  const exported = Object.entries(await load(path, file)).filter(([, value]) => looksLikeAgent(value));
  const agents = new Set<Agent>();
  for (const [name, value] of exported) {
    const agent = value as Agent;
    if (!agent.tools.every(isTool)) {
      const what = `The agent ${agent.name} (${name}) in ${file} has a tool that was not made by defineTool.`;
      throw new AgentsFolderError(what, 'Make its tools with defineTool, commandTool, httpTool or mcpTools.');
    }
    agents.add(agent);
  }
  return [...agents];
}

/** By what it has, not by its class: the folder may bring its own copy of this package. */
const looksLikeAgent = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  'name' in value &&
  typeof value.name === 'string' &&
  'tools' in value &&
  Array.isArray(value.tools);

async function load(path: string, file: string): Promise<Record<string, unknown>> {
  try {
    return (await import(pathToFileURL(resolve(path)).href)) as Record<string, unknown>;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ERR_UNKNOWN_FILE_EXTENSION') {
      const next = 'Set NODE_OPTIONS="--import tsx", use Node 22.18 or later, or compile it to .js.';
      throw new AgentsFolderError(`This Node cannot read TypeScript: ${file}.`, next, error);
    }
    throw new AgentsFolderError(
      `${file} cannot be loaded: ${messageOf(error)}`,
      'Mend the file and start again.',
      error,
    );
  }
}

const messageOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n')[0]?.slice(0, 300) ?? '';
