import type { GuardrailsStatus } from '../../core/guardrails/guardrails-status.ts';
import type { LoopAnswer } from '../../core/guardrails/loop-answer.ts';
import type { AnsweredCall, GuardedCall } from '../../core/guard/decide.ts';
import type { InspectedLoop } from '../../core/inspect/inspected-loop.ts';
import { defined, type Json } from '../../protocol/json.ts';
import type { FamilyPolicy } from '../../core/guardrails/guard-policy.ts';
import type { GuardTrace } from '../../core/guardrails/loop-guard.ts';
import type { RunResult, RunStatus } from '../../protocol/run.ts';
import type { RunEvent } from '../history/run-event.ts';
import type { CallOptions, FollowOptions, Guards, Runs, SecondwindClient, TypedOptions } from '../secondwind-client.ts';
import { typedResult } from '../typed-result.ts';
import type { OverrideAnswer, Prompt, RunEnd, RunPage, StartedRun, StoppedRun, TranscriptMessage } from '../views.ts';
import { type RequestOptions, type ApiConnection, type HttpOptions, connectApi } from './api-connection.ts';
import type { Monitors } from '../monitor-views.ts';
import { followStream } from './follow-stream.ts';
import { monitorsOverHttp } from './monitors-over-http.ts';

type Listed<K extends string, T> = { [key in K]: T[] } & { next_cursor?: string };

export type { HttpOptions };

/** Which conversation of which agent a call belongs to. */
export interface GuardSession {
  agent: string;
  session: string;
  /** Default: the mode of the policy. */
  mode?: 'observe' | 'guide' | 'enforce';
  /** True if a person wrote a message since the call before. */
  user_message?: boolean;
}

export interface GuardAnswer<Action extends string> {
  action: Action;
  why: string;
  /** What to tell the agent, at the end of the result of the call. */
  guidance?: string;
  loop?: InspectedLoop;
}

/** The guard of the server, which keeps the states of conversations in its memory. */
export interface GuardOverHttp {
  before(
    call: GuardSession & GuardedCall,
    options?: CallOptions,
  ): Promise<GuardAnswer<'allow' | 'guide' | 'ask' | 'deny'>>;
  after(
    call: GuardSession & AnsweredCall,
    options?: CallOptions,
  ): Promise<GuardAnswer<'continue' | 'guide' | 'ask' | 'stop'>>;
}

/** The client of a running API. */
export interface HttpClient extends SecondwindClient {
  /** Asks the server's guard around the tool calls of an agent that runs elsewhere. */
  guard: GuardOverHttp;
  /** Sends a request to any route of the API, for routes without a method in the client. */
  api: ApiConnection;
  monitors: Monitors;
}

/**
 * Creates the client of a running API. It does not load Temporal and sends nothing yet. Throws `SecondwindError` if `url` is not an
 * http or https URL.
 *
 * @example
 * ```ts
 * const { runs } = createClient({ url: 'http://127.0.0.1:4680', token });
 * const { run_id } = await runs.start({ agent: 'greeter', goal: 'say hello' });
 * for await (const event of runs.watch(run_id)) console.log(event.event);
 * ```
 */
export function createHttpClient(options: HttpOptions): HttpClient {
  const api = connectApi(options);
  const guards = guardsOverHttp(api);
  return { runs: runsOverHttp(api), guards, guard: guardOverHttp(api), monitors: monitorsOverHttp(api), api };
}

function guardOverHttp(api: ApiConnection): GuardOverHttp {
  return {
    before: async (body, options = {}) => (await api.ask<never>('POST', '/v1/guard/before', { ...options, body })).body,
    after: async (body, options = {}) => (await api.ask<never>('POST', '/v1/guard/after', { ...options, body })).body,
  };
}

function guardsOverHttp(api: ApiConnection): Guards {
  return {
    completeLoop: async (report, options = {}) => {
      const about = { loopId: report.loop_id, refusedAs: 'invalid_report' } as const;
      const asked = { ...options, body: report, about };
      return (await api.ask<LoopAnswer>('POST', '/orchestrator/loop-complete', asked)).body;
    },
    status: async (loopId, options = {}) => {
      const path = `/orchestrator/guardrails-status/${encodeURIComponent(loopId)}`;
      const { body } = await api.ask<{ guardrails_status: GuardrailsStatus }>('GET', path, options);
      return body.guardrails_status;
    },
    override: async (loopId, body, options = {}) => {
      const path = `/orchestrator/override-guardrails/${encodeURIComponent(loopId)}`;
      const about = { loopId, refusedAs: 'invalid_override' } as const;
      return (await api.ask<OverrideAnswer>('POST', path, { ...options, body, about })).body;
    },
    trace: async (loopId, options = {}) => {
      const id = encodeURIComponent(loopId);
      const [{ body: passes }, { body: audit }] = await Promise.all([
        api.ask<Pick<GuardTrace, 'trace'>>('GET', `/orchestrator/loop-trace/${id}`, options),
        api.ask<Pick<GuardTrace, 'overrides'>>('GET', `/orchestrator/overrides/${id}`, options),
      ]);
      return { ...passes, ...audit };
    },
    policy: async (loopId, options = {}) =>
      (await api.ask<FamilyPolicy>('GET', `/orchestrator/policy/${encodeURIComponent(loopId)}`, options)).body,
    setPolicy: async (loopId, body, options = {}) => {
      const path = `/orchestrator/policy/${encodeURIComponent(loopId)}`;
      const about = { loopId, refusedAs: 'invalid_policy' } as const;
      return (await api.ask<FamilyPolicy>('PUT', path, { ...options, body, about })).body;
    },
  };
}

function runsOverHttp(api: ApiConnection): Runs {
  const path = (runId: string, part = ''): string => `/v1/runs/${encodeURIComponent(runId)}${part}`;
  const look = async <T>(runId: string, part: string, options: RequestOptions = {}): Promise<T> =>
    (await api.ask<T>('GET', path(runId, part), { ...options, about: { runId } })).body;
  const tell = <T>(runId: string, part: string, body: unknown, options: RequestOptions = {}) =>
    api.ask<T>('POST', path(runId, part), { ...options, body, about: { runId, isMessage: true } });
  const get: Runs['get'] = (runId, options) => look<RunStatus>(runId, '', options);
  const watch = (runId: string, options: FollowOptions & { deltas?: true } = {}) =>
    watchRun(api, path(runId, '/events'), runId, options);
  return {
    start: async (request, options = {}) => {
      const about = { runId: request.run_id, loopId: request.loop_id };
      return (await api.ask<StartedRun>('POST', '/v1/runs', { ...options, body: request, about })).body;
    },
    get,
    list: async (filter = {}, options = {}) => {
      const { body } = await api.ask<Listed<'runs', RunPage['runs'][number]>>('GET', '/v1/runs', {
        ...options,
        query: { ...filter },
      });
      return { runs: body.runs, next_cursor: body.next_cursor ?? null };
    },
    watch,
    result: async <Output>(runId: string, options: Partial<TypedOptions<Output>> = {}): Promise<RunEnd<Output>> => {
      let ending: Ending | null = null;
      for await (const event of watch(runId, options)) if (event.event === 'run_ended') ending = event;
      options.signal?.throwIfAborted();
      const ended = toRunEnd(await get(runId, options), ending);
      return typedResult({ ...ended, result: await exactResult(api, ended.result, options) }, options.agent);
    },
    override: async (runId, body, options) =>
      (await tell<Awaited<ReturnType<Runs['override']>>>(runId, '/override', body, options)).body,
    answer: async (runId, body, options) =>
      (await tell<Awaited<ReturnType<Runs['answer']>>>(runId, '/answer', body, options)).body,
    feedback: async (runId, body, options) =>
      (await tell<Awaited<ReturnType<Runs['feedback']>>>(runId, '/feedback', body, options)).body,
    cancel: async (runId, body, { waitMs, ...options } = {}) => {
      const asked = { ...options, query: { wait_ms: waitMs } };
      const { status, body: answer } = await tell<RunStatus | StoppedRun>(runId, '/cancel', body, asked);
      return status === 202 ? (answer as StoppedRun) : { state: 'ended', status: answer as RunStatus };
    },
    rerun: async (runId, body, options) => (await tell<StartedRun>(runId, '/rerun', body, options)).body,
    questions: async (page = {}, options = {}) => {
      type Questions = Awaited<ReturnType<Runs['questions']>>['questions'];
      const { body } = await api.ask<Listed<'questions', Questions[number]>>('GET', '/v1/questions', {
        ...options,
        query: { ...page },
      });
      return { questions: body.questions, next_cursor: body.next_cursor ?? null };
    },
    steps: async (runId, options) =>
      (await look<{ steps: Awaited<ReturnType<Runs['steps']>> }>(runId, '/steps', options)).steps,
    transcript: async (runId, page = {}, options = {}) => {
      type Listing = Listed<'transcript', TranscriptMessage>;
      const body = await look<Listing>(runId, '/transcript', { ...options, query: { ...page } });
      return { transcript: body.transcript, next_cursor: body.next_cursor ?? null };
    },
    prompts: async (runId, asked = {}, options = {}) =>
      (await look<{ prompts: Prompt[] }>(runId, '/prompts', { ...options, query: { ...asked } })).prompts,
    failures: async (runId, options) =>
      (await look<{ failures: Awaited<ReturnType<Runs['failures']>> }>(runId, '/failures', options)).failures,
    trace: async (runId, options) =>
      (await look<{ trace: Awaited<ReturnType<Runs['trace']>> }>(runId, '/trace', options)).trace,
    overrides: async (runId, options) =>
      (await look<{ overrides: Awaited<ReturnType<Runs['overrides']>> }>(runId, '/overrides', options)).overrides,
    guidance: (runId, { stepId, attempt }, options = {}) =>
      look(runId, '/guidance', { ...options, query: { step_id: stepId, attempt } }),
  };
}

/**
 * Answers of the API are redacted. An operator can have the exact output, which is an artifact; for everybody else, and if the
 * store is away, the redacted one stays.
 */
async function exactResult(
  api: ApiConnection,
  shown: RunEnd['result'],
  { signal }: RequestOptions,
): Promise<RunEnd['result']> {
  if (shown === null || shown.artifact_id === null || !JSON.stringify(shown.output).includes('[redacted:'))
    return shown;
  try {
    const path = `/v1/artifacts/${shown.artifact_id}`;
    return { ...shown, output: (await api.ask<Json>('GET', path, { signal })).body };
  } catch {
    signal?.throwIfAborted();
    return shown;
  }
}

type Ending = Extract<RunEvent, { event: 'run_ended' }>;

async function* watchRun(
  api: ApiConnection,
  path: string,
  runId: string,
  options: FollowOptions & { deltas?: true },
): AsyncGenerator<RunEvent, void, undefined> {
  const events = followStream(api, {
    ...options,
    path: `${path}?deltas=${options.deltas === true}`,
    about: { runId },
    isLast: ({ event }) => event === 'run_ended',
    // A run whose history was deleted has no events.
    isOver: async (signal) => {
      const address = path.replace(/\/events$/, '');
      const { body } = await api.ask<RunStatus>('GET', address, { signal, about: { runId } });
      return body.state === 'ended';
    },
  });
  for await (const { data } of events) yield parseEvent(data);
}

/**
 * Parses an event of the stream. The stream adds `run_id` to every event; a `RunEvent` has it only in `run_started`. A delta is passed
 * on as it is: it comes only if it was asked for, and then the second signature of `watch` holds.
 */
function parseEvent(data: string): RunEvent {
  const event = JSON.parse(data) as RunEvent & { run_id?: string };
  if (event.event === 'run_started' || (event as { event: string }).event === 'model_delta') return event;
  const { run_id: _run, ...rest } = event;
  return rest;
}

function toRunEnd(status: RunStatus, ending: Ending | null): RunEnd {
  return {
    run_id: status.run_id,
    agent: status.agent,
    outcome: status.outcome ?? ending?.outcome ?? 'system_error',
    reason: ending?.reason ?? null,
    why: ending?.why ?? status.why,
    result: status.result ?? null,
    loops: ending?.loops ?? null,
    questions: ending?.questions ?? null,
    used: (ending?.used as RunResult['used'] | null | undefined) ?? status.budget.used,
    bound: status.bound,
    failures: (ending?.failures as RunResult['failures'] | null | undefined) ?? status.failures,
    unsaved: status.unsaved,
    ...defined({ effects: status.effects }),
    started_at: status.started_at,
    ended_at: status.updated_at,
  };
}
