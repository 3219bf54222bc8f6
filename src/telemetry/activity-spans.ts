import { type Span, SpanStatusCode } from '@opentelemetry/api';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import type { CallFailed } from '../protocol/tools.ts';
import { ERROR_TYPE, SECONDWIND, TEMPORAL } from './attributes.ts';
import { describeActivity } from './describe-activity.ts';
import { recordErrorClass, type Tracing } from './tracing.ts';
import type { AttributeBuilder } from './attribute-builder.ts';

/** Creates one span for each attempt of each activity, as a child of the workflow's span. */
export const traceActivities =
  (tracing: Tracing, words: AttributeBuilder): ActivityInterceptorsFactory =>
  ({ info }) => {
    let ids: Record<string, string> = {};
    return {
      inbound: {
        execute: (input, next) => {
          const seen = describeActivity(info, input.args[0], words);
          const temporal = words.plain({
            [TEMPORAL.workflow]: info.workflowExecution?.workflowId,
            [TEMPORAL.run]: info.workflowExecution?.runId,
            [TEMPORAL.activity]: info.activityId,
          });
          const work = async (span: Span): Promise<unknown> => {
            const { traceId, spanId } = span.spanContext();
            ids = { trace_id: traceId, span_id: spanId };
            for (const { name, attributes } of seen.events) span.addEvent(name, attributes);
            const result = await next(input);
            span.setAttributes({ [SECONDWIND.outcome]: 'ok', ...seen.ofResult(result) });
            return result;
          };
          const options = { attributes: { ...seen.attributes, ...temporal } };
          return tracing.runInSpan(seen.name, options, tracing.fromHeaders(input.headers), work, (span, error) =>
            recordFailedAttempt(span, error, words),
          );
        },
      },
      outbound: {
        getLogAttributes: (attributes, next) => next({ ...attributes, ...ids }),
      },
    };
  };

/** Records a failed attempt with its whole outcome. A cancelled attempt is not an error. */
function recordFailedAttempt(span: Span, error: unknown, { plain, content }: AttributeBuilder): void {
  if (error instanceof CancelledFailure) {
    span.setAttribute(SECONDWIND.outcome, 'cancelled');
    return;
  }
  const told =
    error instanceof ApplicationFailure ? (error.details?.[0] as Partial<CallFailed> | undefined) : undefined;
  if (told?.class !== 'failed') {
    span.setAttribute(SECONDWIND.outcome, 'failed');
    recordErrorClass(span, error);
    return;
  }
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttributes({
    ...plain({
      [ERROR_TYPE]: told.error_code,
      [SECONDWIND.category]: told.category,
      [SECONDWIND.outcome]: 'failed',
    }),
    ...content({ [SECONDWIND.message]: told.message_preview }),
  });
}
