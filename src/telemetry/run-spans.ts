import { ROOT_CONTEXT, SpanStatusCode } from '@opentelemetry/api';
import type { InjectedSinks } from '@temporalio/worker';
import { runIdOfWorkflow } from '../protocol/ids.ts';
import { WORKFLOW_TYPE } from '../protocol/names.ts';
import { ERROR_TYPE, GEN_AI, SECONDWIND, TEMPORAL } from './attributes.ts';
import type { RunSpanSink } from './run-span.ts';
import type { Tracing } from './tracing.ts';
import type { AttributeBuilder } from './attribute-builder.ts';

/**
 * Creates the span of a workflow when it ends, with the id that its activities already use as their parent. So no
 * worker has to stay alive for it, and a replay creates none.
 */
export const traceRuns = (tracing: Tracing, { plain }: AttributeBuilder): InjectedSinks<RunSpanSink> => ({
  secondwindTrace: {
    ended: {
      callDuringReplay: false,
      fn: (info, run) => {
        const { traceId, spanId, parentSpanId, sampled } = run;
        const parent =
          parentSpanId === null ? ROOT_CONTEXT : tracing.contextBelow({ traceId, spanId: parentSpanId, sampled });
        const isRun = info.workflowType === WORKFLOW_TYPE.agentRun;
        const runId = isRun ? runIdOfWorkflow(info.workflowId) : null;
        const error = run.error ?? (run.outcome === 'system_error' ? (run.reason ?? '_OTHER') : null);
        const attributes = plain({
          [GEN_AI.operation]: isRun ? 'invoke_agent' : null,
          [GEN_AI.agent]: run.agent,
          [GEN_AI.conversation]: runId,
          [GEN_AI.requestModel]: run.model,
          [SECONDWIND.run]: runId,
          [SECONDWIND.loop]: run.loopId,
          [SECONDWIND.outcome]: run.outcome,
          [SECONDWIND.reason]: run.reason,
          [ERROR_TYPE]: error,
          [TEMPORAL.workflow]: info.workflowId,
          [TEMPORAL.run]: info.runId,
        });
        const name = isRun ? `invoke_agent ${run.agent ?? ''}`.trim() : info.workflowType;
        const span = tracing.ids.giving({ traceId, spanId }, () =>
          tracing.tracer.startSpan(name, { attributes, startTime: info.startTime }, parent),
        );
        if (error !== null) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      },
    },
  },
});
