/** Loaded into the workflow bundle only if telemetry is on. It adds headers to commands and never adds a command. */
import { defaultPayloadConverter, type Headers, TemporalFailure } from '@temporalio/common';
import {
  type ActivityInput,
  ContinueAsNew,
  type ContinueAsNewInput,
  type GetLogAttributesInput,
  isCancellation,
  type Next,
  proxySinks,
  type StartChildWorkflowExecutionInput,
  workflowInfo,
  type WorkflowExecuteInput,
  type WorkflowInboundCallsInterceptor,
  type WorkflowInterceptorsFactory,
  type WorkflowOutboundCallsInterceptor,
} from '@temporalio/workflow';
import type { RunResult } from '../protocol/run.ts';
import type { AgentRunInput } from '../workflows/agent-run-input.ts';
import type { RunSpan, RunSpanSink } from './run-span.ts';
import {
  readTraceParent,
  spanIdOf,
  TRACE_HEADER,
  type TraceCarrier,
  traceIdOf,
  type TraceParent,
  writeTraceParent,
} from './trace-header.ts';

const { secondwindTrace } = proxySinks<RunSpanSink>();

type Outbound = WorkflowOutboundCallsInterceptor;

class RunTrace implements WorkflowInboundCallsInterceptor, WorkflowOutboundCallsInterceptor {
  #parent: TraceParent | null = null;
  #own: TraceParent | null = null;

  execute(input: WorkflowExecuteInput, next: Next<WorkflowInboundCallsInterceptor, 'execute'>): Promise<unknown> {
    const { runId, firstExecutionRunId } = workflowInfo();
    const parent = parentIn(input.headers);
    const own = {
      traceId: parent?.traceId ?? traceIdOf(firstExecutionRunId),
      spanId: spanIdOf(runId),
      sampled: parent?.sampled ?? true,
    };
    this.#parent = parent;
    this.#own = own;
    const ending = next(input);
    const ended = (how: Ending | null): void => {
      if (how !== null)
        secondwindTrace.ended({ ...own, parentSpanId: parent?.spanId ?? null, ...askedFor(input), ...how });
    };
    // Observed on the side, because another promise in the chain would change the order of the workflow's steps.
    ending.then(
      (result) => ended(endingOf(result)),
      (error: unknown) => ended(endingBy(error)),
    );
    return ending;
  }

  scheduleActivity(input: ActivityInput, next: Next<Outbound, 'scheduleActivity'>): Promise<unknown> {
    return next({ ...input, headers: this.#withOwn(input.headers) });
  }

  startChildWorkflowExecution(
    input: StartChildWorkflowExecutionInput,
    next: Next<Outbound, 'startChildWorkflowExecution'>,
  ): Promise<[Promise<string>, Promise<unknown>]> {
    return next({ ...input, headers: this.#withOwn(input.headers) });
  }

  /** A continued execution has the same parent. Without one it derives the same trace id. */
  continueAsNew(input: ContinueAsNewInput, next: Next<Outbound, 'continueAsNew'>): Promise<never> {
    return next({ ...input, headers: withTrace(input.headers, this.#parent, false) });
  }

  getLogAttributes(input: GetLogAttributesInput, next: Next<Outbound, 'getLogAttributes'>): Record<string, unknown> {
    if (this.#own === null) return next(input);
    return next({ ...input, trace_id: this.#own.traceId, span_id: this.#own.spanId });
  }

  #withOwn(headers: Headers): Headers {
    return withTrace(headers, this.#own, this.#parent === null);
  }
}

export const interceptors: WorkflowInterceptorsFactory = () => {
  const trace = new RunTrace();
  return { inbound: [trace], outbound: [trace] };
};

function parentIn(headers: Headers): TraceParent | null {
  const payload = headers[TRACE_HEADER];
  if (payload === undefined) return null;
  try {
    return readTraceParent(defaultPayloadConverter.fromPayload<TraceCarrier>(payload)?.traceparent);
  } catch {
    return null;
  }
}

function withTrace(headers: Headers, trace: TraceParent | null, undecided: boolean): Headers {
  if (trace === null) return headers;
  const carrier: TraceCarrier = { traceparent: writeTraceParent(trace), ...(undecided && { undecided: '1' }) };
  return { ...headers, [TRACE_HEADER]: defaultPayloadConverter.toPayload(carrier) };
}

/** The argument of a run that was started from the bare `temporal` command can have any shape. */
function askedFor({ args }: WorkflowExecuteInput): Pick<RunSpan, 'agent' | 'loopId' | 'model'> {
  const asked = (args[0] ?? {}) as AgentRunInput;
  const run = asked.state?.run ?? asked.prepared ?? asked;
  return {
    agent: textOf(run.agent),
    loopId: textOf(run.loop_id),
    model: 'model' in run ? textOf(run.model) : null,
  };
}

type Ending = Pick<RunSpan, 'outcome' | 'reason' | 'error'>;

const endingOf = (result: unknown): Ending => {
  const { outcome, reason } = (result ?? {}) as Partial<RunResult>;
  return { outcome: textOf(outcome), reason: textOf(reason), error: null };
};

/** null for an error that fails only the workflow task, because Temporal retries it and the workflow has not ended. */
function endingBy(error: unknown): Ending | null {
  if (error instanceof ContinueAsNew) return { outcome: 'handed_over', reason: null, error: null };
  if (isCancellation(error)) return { outcome: 'cancelled', reason: null, error: null };
  return error instanceof TemporalFailure ? { outcome: null, reason: null, error: error.name } : null;
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value.slice(0, 200) : null);
