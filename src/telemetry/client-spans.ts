import { context, SpanKind } from '@opentelemetry/api';
import type { WorkflowClientInterceptor } from '@temporalio/client';
import { runIdOfWorkflow } from '../protocol/ids.ts';
import { WORKFLOW_TYPE } from '../protocol/names.ts';
import type { AgentRunInput } from '../workflows/agent-run-input.ts';
import { GEN_AI, SECONDWIND, TEMPORAL } from './attributes.ts';
import type { Tracing } from './tracing.ts';
import type { AttributeBuilder } from './attribute-builder.ts';

/** Creates the span of a start. It is the first span of a run's trace, or a child of the caller's span. */
export const traceStarts = (tracing: Tracing, { plain, content }: AttributeBuilder): WorkflowClientInterceptor => ({
  startWithDetails: (input, next) => {
    const { workflowType, headers } = input;
    const { workflowId, args } = input.options;
    const run = workflowType === WORKFLOW_TYPE.agentRun ? (args[0] as AgentRunInput | undefined)?.prepared : undefined;
    const name = run === undefined ? `start ${workflowType}` : `invoke_agent ${run.agent}`;
    const attributes = {
      ...plain({
        [GEN_AI.operation]: run && 'invoke_agent',
        [GEN_AI.agent]: run?.agent,
        [GEN_AI.conversation]: run?.run_id,
        [GEN_AI.requestModel]: run?.model,
        [SECONDWIND.run]: run?.run_id ?? runIdOfWorkflow(workflowId),
        [SECONDWIND.loop]: run?.loop_id,
        [TEMPORAL.workflow]: workflowId,
      }),
      ...content({ [GEN_AI.inputMessages]: run && [{ role: 'user', parts: [{ type: 'text', content: run.goal }] }] }),
    };
    return tracing.runInSpan(name, { kind: SpanKind.CLIENT, attributes }, context.active(), (span) =>
      next({ ...input, headers: tracing.withHeader(headers, span) }),
    );
  },
});
