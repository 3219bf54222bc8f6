import type { Attributes } from '@opentelemetry/api';
import type { PlannerView } from '../core/run/ports.ts';
import { toolCallId } from '../protocol/ids.ts';
import { ACTIVITY, toolOfActivity } from '../protocol/names.ts';
import type { RecordBatch, RunArchive } from '../protocol/records.ts';
import type { ToolCallRequest } from '../protocol/tools.ts';
import { FAILURE_EVENT, GEN_AI, SECONDWIND } from './attributes.ts';
import type { AttributeBuilder } from './attribute-builder.ts';

export interface DescribedActivity {
  name: string;
  attributes: Attributes;
  events: { name: string; attributes: Attributes }[];
  /** Attributes of the result; empty if content is not exported. */
  ofResult(result: unknown): Attributes;
}

type Asked = Partial<ToolCallRequest & PlannerView & RecordBatch & { pending: RecordBatch; fingerprint: string }>;

export interface ActivityKind {
  activityType: string;
  attempt: number;
}

/** Describes one activity. Its argument may come from a user's own workflow and have any shape. */
export function describeActivity(info: ActivityKind, argument: unknown, words: AttributeBuilder): DescribedActivity {
  try {
    return described(info, argument, words);
  } catch {
    return { name: info.activityType, attributes: {}, events: [], ofResult: () => ({}) };
  }
}

function described(
  { activityType: type, attempt }: ActivityKind,
  argument: unknown,
  words: AttributeBuilder,
): DescribedActivity {
  const asked = (typeof argument === 'object' && argument !== null ? argument : {}) as Asked;
  const tool = toolOfActivity(type);
  const operation = tool === null ? OPERATION[type] : 'execute_tool';
  const subject = tool ?? (operation === 'plan' ? asked.agent : undefined);
  const failures = failuresIn(asked);
  return {
    name: [operation ?? type, subject].filter((part) => part !== undefined).join(' '),
    attributes: {
      ...words.plain({
        [GEN_AI.operation]: operation,
        [GEN_AI.agent]: asked.agent,
        [GEN_AI.conversation]: asked.run_id,
        [GEN_AI.tool]: tool ?? (type === ACTIVITY.reconcile ? asked.tool : undefined),
        [GEN_AI.toolCall]: tool === null ? undefined : callIdOf(asked),
        [SECONDWIND.run]: asked.run_id,
        [SECONDWIND.loop]: asked.loop_id,
        [SECONDWIND.step]: asked.step_id,
        [SECONDWIND.turn]: asked.turn,
        [SECONDWIND.attempt]: asked.attempt ?? attempt,
        [SECONDWIND.fingerprint]: asked.fingerprint ?? failures.at(-1)?.fingerprint,
        [SECONDWIND.guidedBy]: listOf(asked.guidance?.rows).map((row) => row.fingerprint),
      }),
      ...(tool === null ? {} : words.content({ [GEN_AI.toolArguments]: asked.input })),
    },
    events: failures.map((failure) => ({
      name: FAILURE_EVENT,
      attributes: words.plain({
        [SECONDWIND.fingerprint]: failure.fingerprint,
        [SECONDWIND.step]: failure.step_id,
        [SECONDWIND.signal]: failure.signal_type,
        [GEN_AI.tool]: failure.attempted_action?.tool_name,
        [GEN_AI.toolCall]: failure.attempted_action?.tool_call_id,
      }),
    })),
    ofResult: (result) =>
      tool === null ? {} : words.content({ [GEN_AI.toolResult]: (result as { output?: unknown } | null)?.output }),
  };
}

/** Operations that the conventions define. The runtime's other activities keep their own names. */
const OPERATION: Record<string, string | undefined> = {
  [ACTIVITY.callModel]: 'plan',
  [ACTIVITY.recall]: 'search_memory',
};

/** The workflow computes a failure's fingerprint when it makes the record, so the span of the write has it. */
const failuresIn = (asked: Asked): readonly Partial<RecordBatch['records'][number]>[] =>
  listOf((asked as Partial<RunArchive>).pending?.records ?? asked.records);

const listOf = <T>(value: readonly T[] | undefined): readonly T[] => (Array.isArray(value) ? value : []);

const callIdOf = ({ run_id, step_id, attempt }: Asked): string | undefined =>
  run_id === undefined || step_id === undefined || attempt === undefined
    ? undefined
    : toolCallId(run_id, step_id, attempt);
