import { decideAfter, decideBefore } from '../core/guard/decide.ts';
import type { AfterDecision, AnsweredCall, BeforeDecision, GuardedCall } from '../core/guard/decide.ts';
import {
  createGuardState,
  type GuardReport,
  type GuardSettings,
  type GuardState,
  noteUserMessage,
  readGuardState,
  reportGuard,
  settingsOf,
} from '../core/guard/guard-state.ts';
import { cleanName } from '../core/failures/clean-text.ts';
import type { InspectedLoop } from '../core/inspect/inspected-loop.ts';
import { checkPolicy } from '../core/policy/check-policy.ts';
import { mergePolicy } from '../core/policy/merge-policy.ts';
import { RunRequestError } from '../protocol/errors.ts';
import { defined } from '../protocol/json.ts';
import type { Policy, PolicyPatch } from '../protocol/schemas/policy.ts';
import type { ToolEffect } from '../protocol/tools.ts';
import { messageOf } from './add-guidance.ts';
import { type GuardServer, ServerMemory, type ToolLesson } from './server-memory.ts';
import { wrapFunction } from './wrap-function.ts';

export interface GuardOptions {
  /** The name of the agent. With a server, lessons are found and stored under it. */
  agent: string;
  /**
   * `observe` only reports, `guide` adds guidance and stops nothing, `enforce` also denies calls and stops the agent.
   * Default: the `mode` of the policy, which is `enforce` by default.
   */
  mode?: Policy['mode'];
  /** Any part of a policy. A guard uses `mode`, `loops` and `reruns.on_guard`. */
  policy?: PolicyPatch;
  /** A running API whose memory the guard shares. Without it the guard makes no network call. */
  server?: GuardServer;
  /** What `guard.state()` returned, to continue in another process. */
  state?: unknown;
  /** Receives at most one line about each kind of problem. Default: standard error. */
  log?: (line: string) => void;
}

/** What `guard.state()` returns: plain JSON of bounded size. */
export interface SavedGuard extends GuardState {
  /** The name under which failures are reported to a server. */
  session?: string;
  /** Lessons that were not shown yet. Absent if no server was asked for them. */
  lessons?: ToolLesson[];
}

export interface Guard {
  readonly agent: string;
  readonly mode: Policy['mode'];
  /** The loop that made the guard tell the agent to stop, or null. A message of a person clears it. */
  readonly stopped: InspectedLoop | null;
  /** Decides about a call before it runs. If the answer is `deny` or `ask`, do not run it and do not call `after`. */
  before(call: GuardedCall): Promise<BeforeDecision>;
  /** Takes in a call that ran, with its `output` or its `error`, and decides whether the agent may go on. */
  after(call: AnsweredCall): Promise<AfterDecision>;
  /** Starts every count again, because a person wrote a message or answered. */
  userMessage(): void;
  /** What was found so far, in the shape of `secondwind inspect --json`. */
  report(): GuardReport;
  /** The state to continue with in another process: `createGuard({ ..., state })`. */
  state(): SavedGuard;
  /**
   * Returns a function that asks the guard around every call of `fn`. Guidance is added to the end of its result or of the
   * message of its error. In `enforce` mode it throws `GuardStopError`.
   */
  wrap<Input, Rest extends unknown[], Output>(
    fn: (input: Input, ...rest: Rest) => Output | Promise<Output>,
    about: { tool: string; effect?: ToolEffect },
  ): (input: Input, ...rest: Rest) => Promise<Output>;
}

/**
 * Creates a guard around the tool calls of an agent. It runs in your process and needs no server. An error inside the
 * guard never reaches the agent: it is logged once, and the call goes through. Throws `RunRequestError` if the policy is
 * invalid.
 *
 * @example
 *   const guard = createGuard({ agent: 'coder', mode: 'guide' });
 *   const readFile = guard.wrap(readFileTool, { tool: 'read_file', effect: 'read' });
 */
export function createGuard(options: GuardOptions): Guard {
  const problems = checkPolicy(options.policy);
  if (problems.length > 0) throw new RunRequestError(problems);
  return new InProcessGuard(options);
}

const SHOWN_LESSONS = 2;

class InProcessGuard implements Guard {
  readonly agent: string;
  readonly mode: Policy['mode'];
  readonly #settings: GuardSettings;
  readonly #memory: ServerMemory | null;
  readonly #log: (line: string) => void;
  readonly #logged = new Set<string>();
  #state: SavedGuard;

  constructor({ agent, mode, policy, server, state, log = logToStderr }: GuardOptions) {
    this.#settings = settingsOf(mergePolicy(policy, defined({ mode })));
    this.agent = agent;
    this.mode = this.#settings.mode;
    this.#log = log;
    const saved = state === undefined || state === null ? createGuardState() : readGuardState(state);
    if (saved === null) this.#logOnce('state', 'The saved state is not one of this version. Counting starts again.');
    this.#state = saved ?? createGuardState();
    const onProblem = (problem: unknown) =>
      this.#logOnce('server', `The server did not help: ${messageOf(problem)} The guard goes on without its memory.`);
    this.#memory = server === undefined ? null : new ServerMemory(server, agent, onProblem);
  }

  get stopped(): InspectedLoop | null {
    return this.#state.stopped;
  }

  async before(call: GuardedCall): Promise<BeforeDecision> {
    const decision = this.#decide(() => decideBefore(this.#state, call, this.#settings), { verdict: 'allow' } as const);
    if (this.#memory === null || this.mode === 'observe' || decision.verdict !== 'allow') return decision;
    const lessons = this.#state.lessons ?? (await this.#memory.lessons());
    if (lessons === null) return decision;
    const tool = cleanName(call.tool, 80);
    const about = lessons.filter((lesson) => lesson.tool === tool).slice(0, SHOWN_LESSONS);
    this.#state = { ...this.#state, lessons: lessons.filter((lesson) => lesson.tool !== tool) };
    if (about.length === 0) return decision;
    return { verdict: 'guide', text: tellLessons(about.map(({ text }) => text)) };
  }

  async after(call: AnsweredCall): Promise<AfterDecision> {
    const failuresBefore = this.#state.failures;
    const fallback = { verdict: 'continue' } as const;
    const decision = this.#decide(() => decideAfter(this.#state, call, this.#settings), fallback);
    if (this.#memory === null) return decision;
    const { failures, watch, session = `guard-${crypto.randomUUID()}` } = this.#state;
    this.#state = { ...this.#state, session };
    const reports: Promise<unknown>[] = [];
    if (decision.loop?.would_stop_at === watch.calls) {
      reports.push(this.#memory.reportLoop(session, watch.calls, decision.loop));
    }
    const hasFailed = failures !== failuresBefore;
    const isNew = failures.length > failuresBefore.length;
    const message = call.error === undefined ? failureText(call.output) : messageOf(call.error);
    const failure = { session, call: watch.calls, tool: call.tool, message };
    const known = hasFailed ? await this.#memory.reportFailure(failure, isNew && this.mode !== 'observe') : [];
    await Promise.all(reports);
    if (known.length === 0 || this.mode === 'observe') return decision;
    const text = tellLessons(known);
    if (decision.verdict === 'continue') return { ...decision, verdict: 'guide', text };
    return { ...decision, text: decision.text === undefined ? text : `${decision.text}\n${text}` };
  }

  userMessage(): void {
    this.#state = noteUserMessage(this.#state);
  }

  report(): GuardReport {
    return reportGuard(this.#state);
  }

  state(): SavedGuard {
    return this.#state;
  }

  wrap: Guard['wrap'] = (fn, about) => wrapFunction(this, fn, about);

  /** A bug in the guard must not cost the agent a call, so every decision fails open. */
  #decide<D>(decide: () => { state: GuardState; decision: D }, open: D): D {
    try {
      const { state, decision } = decide();
      this.#state = state;
      return decision;
    } catch (error) {
      this.#logOnce('error', `An error inside the guard: ${messageOf(error)} Calls go through unguarded.`);
      return open;
    }
  }

  #logOnce(kind: string, line: string): void {
    if (this.#logged.has(kind)) return;
    this.#logged.add(kind);
    this.#log(`secondwind guard (${this.agent}): ${line}`);
  }
}

const tellLessons = (texts: readonly string[]): string =>
  texts.map((text) => `[secondwind] Earlier runs: ${text}`).join('\n');

const failureText = (output: unknown): string => (typeof output === 'string' ? output : (JSON.stringify(output) ?? ''));

// oxlint-disable-next-line no-console -- the guard runs inside programs whose log it does not know.
const logToStderr = (line: string): void => console.error(line);
