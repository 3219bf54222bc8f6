import { askPlanner } from '../activities/ask-planner.ts';
import { askReviewer } from '../activities/review.ts';
import { checkGivenOutput } from '../activities/tools/check-given-output.ts';
import { executeTool, reconcileTool } from '../activities/tools/execute-tool.ts';
import type { ToolEnvironment } from '../activities/tools/tool-environment.ts';
import { type Agent, thinks } from '../define/define-agent.ts';
import type { Tool } from '../define/define-tool.ts';
import { prepareRun } from '../define/prepare-run.ts';
import { createRegistry, type Registry } from '../define/registry.ts';
import { problemsOf } from '../define/zod-problems.ts';
import { planTurn } from '../model/plan-turn.ts';
import type { MessageStore } from '../model/transcript-store.ts';
import { RunRequestError } from '../protocol/errors.ts';
import { defined, type Json } from '../protocol/json.ts';
import type { MessageBody } from '../protocol/messages.ts';
import type { PendingQuestion } from '../protocol/questions.ts';
import type { RunRequest, RunResult } from '../protocol/run.ts';
import type { FailureRecord } from '../protocol/schemas/failure-record.ts';
import type { CallOutcome, ToolCallRequest } from '../protocol/tools.ts';
import { scriptedModel, type ScriptedModel } from './scripted-model/language-model.ts';
import type { Script, ScriptedRequest } from './scripted-model/script.ts';
import { simulateRun, type World } from './simulator/simulate-run.ts';
import { simulateSubRun } from './simulator/sub-run.ts';

/** The answer of a person in a test. Without `by`, it is given by `tester`. */
export type TestAnswer = Omit<MessageBody<'answer'>, 'question_id' | 'by'> & { by?: string };

/** Options of `testAgent`: those of a request, and the world around the run. */
export interface TestOptions extends Partial<Omit<RunRequest, 'agent'>> {
  /** The turns of the agent's model, or a function of each request, instead of the model that the agent names. */
  model?: Script;
  /** The answers to the run's questions, in order, or a function of each question. Without an answer the deadline decides. */
  answers?: readonly TestAnswer[] | ((question: PendingQuestion, index: number) => TestAnswer | undefined);
  /** Replaces parts of the world, for example `storeIsUp`, `recall` or how a tool's `call` ends. */
  world?: Partial<World>;
}

/** One attempt of a tool, in the order in which they began. */
export interface TestedAttempt {
  step_id: number;
  attempt: number;
  tool: string;
  input: Json;
  /** The rows of guidance that the attempt was given. */
  guidance: string[];
  /** The backoff before it, in virtual time. */
  waited_ms: number;
  outcome: CallOutcome;
}

/** What `testAgent` returns. */
export interface TestedRun {
  result: RunResult;
  attempts: TestedAttempt[];
  /** Every row of guidance that an attempt or the model was given, each once. */
  guidance: string[];
  /** What the model was sent, request by request. Empty without `model`. */
  requests: ScriptedRequest[];
  questions: PendingQuestion[];
  records: FailureRecord[];
}

/**
 * Runs an agent in virtual time, without a stack: its own tools, planner and reviewer are called, waits take no time, and a
 * script plays its model.
 *
 * @throws RunRequestError if the request cannot run, with one problem per JSON path
 *
 * @example
 * ```ts
 * const { result, attempts } = await testAgent(agent, { model: [{ calls: [{ tool: 'look', input: {} }] }, { text: 'done' }] });
 * ```
 */
export async function testAgent(agent: Agent, options: TestOptions = {}): Promise<TestedRun> {
  const { model: script, answers, world: changed, ...request } = options;
  checkShapes(agent, options);
  const model = script === undefined ? undefined : scriptedModel(script);
  const registry = createRegistry([{ ...agent, ...defined({ model }) }]);
  const asked = { goal: 'test', ...request, agent: agent.name };
  const prepared = prepareRun(asked, registry, request.run_id ?? 'test-run');
  if (!prepared.ok) throw new RunRequestError(prepared.problems);

  const seen: Seen = { attempts: [], guidance: new Set(), questions: [] };
  const world: World = { ...worldOf(registry, seen, answers), ...changed };
  const { result, records } = await simulateRun(prepared.prepared, { world });
  return {
    result,
    attempts: seen.attempts,
    guidance: [...seen.guidance],
    requests: model === undefined ? [] : requestsOf(model),
    questions: seen.questions,
    records: records.flatMap((batch) => batch.records),
  };
}

interface Seen {
  attempts: TestedAttempt[];
  guidance: Set<string>;
  questions: PendingQuestion[];
}

function worldOf(registry: Registry, seen: Seen, answers: TestOptions['answers']): World {
  const { environment, messages } = memoryEnvironment();
  const toolOf = (name: string): Tool => {
    const tool = registry.tools.get(name);
    if (tool === undefined) throw new TypeError(`The agent has no tool named ${name}.`);
    return tool;
  };
  const note = (rows: readonly { text: string }[]): string[] => {
    for (const { text } of rows) seen.guidance.add(text);
    return rows.map(({ text }) => text);
  };
  const turn = { ...environment, store: messages, environment: process.env };
  const call = async (request: ToolCallRequest): Promise<CallOutcome> => {
    const { step_id, attempt, tool, input, waited_ms } = request;
    const outcome = await executeTool(toolOf(tool), request, environment);
    seen.attempts.push({ step_id, attempt, tool, input, guidance: note(request.guidance.rows), waited_ms, outcome });
    return outcome;
  };
  const world: World = {
    call,
    reconcile: (request) => reconcileTool(toolOf(request.tool), request, environment),
    checkOutput: (request) => checkGivenOutput(toolOf(request.tool), request, environment),
    checkInput: ({ tool, input }) => {
      const parsed = toolOf(tool).input.safeParse(input);
      return parsed.success ? { ok: true } : { ok: false, problems: problemsOf(parsed.error, '$.input') };
    },
    plan: (view) => {
      note(view.guidance.rows);
      const agent = registry.agents.get(view.agent);
      if (agent !== undefined && thinks(agent)) return planTurn(agent, view, turn);
      return askPlanner(agent?.planner, view, environment, agent?.tools);
    },
    review: (view) => askReviewer(registry.agents.get(view.agent), view, turn),
    // The people of a test speak to the run that is tested, and not to the runs of agents that it calls.
    subRun: async (request) =>
      (await simulateSubRun(request, registry, () => ({ ...world, react: () => undefined }))).outcome,
    react: ({ question }, send) => {
      if (question === null || seen.questions.some(({ question_id }) => question_id === question.question_id)) return;
      seen.questions.push(question);
      const index = seen.questions.length - 1;
      const answer = typeof answers === 'function' ? answers(question, index) : answers?.[index];
      if (answer !== undefined) send(1, 'answer', { by: 'tester', ...answer, question_id: question.question_id });
    },
  };
  return world;
}

/** Keeps artifacts and conversations in memory, for as long as the test runs. */
function memoryEnvironment(): { environment: ToolEnvironment; messages: MessageStore } {
  const artifacts = new Map<string, string>();
  const read = (id: string): Json | undefined => {
    const text = artifacts.get(id);
    return text === undefined ? undefined : (JSON.parse(text) as Json);
  };
  const environment: ToolEnvironment = {
    signal: new AbortController().signal,
    stopped: () => null,
    heartbeat: () => undefined,
    loadArtifact: async (id) => read(id),
    saveArtifact: async (id, content) => {
      artifacts.set(id, typeof content === 'string' ? content : Buffer.from(content).toString());
    },
    waitForStore: (_purpose, ask) => ask(),
    log: () => undefined,
    redact: (text) => text,
    now: () => Date.now(),
  };
  const messages: MessageStore = {
    getMany: async (ids) => new Map(ids.flatMap((id) => (artifacts.has(id) ? [[id, read(id) as Json]] : []))),
    putMany: async (kept) => {
      for (const { id, text } of kept) artifacts.set(id, text);
    },
  };
  return { environment, messages };
}

const requestsOf = (model: ScriptedModel): ScriptedRequest[] => model.exchanges.map(({ request }) => request);

/** Tests are often written in JavaScript, or with `as any`, so a wrong shape gets an error that says what was expected. */
function checkShapes(agent: Agent, { model, answers, world }: TestOptions): void {
  const expected = (what: string, shape: string): TypeError => new TypeError(`testAgent: ${what} must be ${shape}.`);
  if (typeof agent?.name !== 'string' || !Array.isArray(agent.tools)) {
    throw expected('the first argument', 'an agent, as defineAgent returns it');
  }
  if (model !== undefined && typeof model !== 'function' && !Array.isArray(model)) {
    throw expected('`model`', 'a list of turns such as [{ text: "done" }], or a function of each request');
  }
  if (model !== undefined && !thinks(agent)) {
    throw expected('`model`', `left out: the agent ${agent.name} has no instructions, so it asks no model`);
  }
  if (answers !== undefined && typeof answers !== 'function' && !Array.isArray(answers)) {
    throw expected('`answers`', 'a list such as [{ decision: "approve" }], or a function of each question');
  }
  if (world !== undefined && (typeof world !== 'object' || world === null)) {
    throw expected('`world`', 'an object of functions, for example { storeIsUp: () => false }');
  }
}
