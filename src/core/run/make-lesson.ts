import { CAP } from '../../protocol/caps.ts';
import { canonicalJson, hashOfJson, sha256Hex, toolCallId } from '../../protocol/ids.ts';
import { defined } from '../../protocol/json.ts';
import type { LearntLesson, LessonRemedy } from '../../protocol/lessons.ts';
import type { FailureRecord } from '../../protocol/schemas/failure-record.ts';
import type { CallSucceeded, Constraints } from '../../protocol/tools.ts';
import { schemasOfTools } from '../lessons/changed-schema.ts';
import type { ActionDifference, AttemptInAction } from '../lessons/compare-behaviour.ts';
import { changedArguments, describeFailure, pickPlainArgs } from '../lessons/lesson-text.ts';
import { tellLesson } from '../lessons/tell-lesson.ts';
import { hideData, sortArguments, type ValueEvidence } from '../lessons/travelling-values.ts';
import { type Attempt, artifactOf, type Step } from './attempts.ts';
import { hashCached } from './failure-records.ts';
import type { RunState } from './state.ts';

export interface LessonSource {
  failed: Step;
  before: FailureRecord;
  step: Step;
  after: CallSucceeded;
}

/** The most earlier outputs that are looked through for values of the run. With more, no value is told. */
const EARLIER_OUTPUTS = 100;

/** Makes the lesson of a success after a failure. Returns null if it has nothing to tell, now or later. */
export function makeLesson(
  state: RunState,
  source: LessonSource,
  differences: readonly ActionDifference[],
): LearntLesson | null {
  const { run } = state;
  const { before, step, after } = source;
  const remedy = describeRemedy(state, source, differences);
  const content = tellLesson(remedy);
  if (content === null && remedy.unexplained.length === 0) return null;
  const { scope, similarity_threshold } = run.policy.memory;
  const attempt = step.attempts.at(-1)?.n ?? 0;
  const tools = [...new Set([source.failed.call.tool, step.call.tool])];
  return {
    occurrence_id: `${toolCallId(run.run_id, step.step_id, attempt)}:lesson`,
    scope: scope === 'global' ? 'global' : 'agent',
    error_type: before.signal_type,
    fingerprint: before.fingerprint,
    ...defined({ error_text: before.observed_outcome.message_preview, error_code: before.observed_outcome.error_code }),
    content,
    context: `step ${step.step_id} (${step.call.phase}) of run ${run.run_id}`,
    query: after.query ?? run.goal.slice(0, CAP.messagePreviewChars),
    iteration: attempt,
    quality_delta: 1,
    tools,
    tool_schemas: schemasOfTools(run.manifest, tools),
    similarity_threshold,
    remedy,
  };
}

function describeRemedy(
  state: RunState,
  { failed, before, step, after }: LessonSource,
  differences: readonly ActionDifference[],
): LessonRemedy {
  const { run } = state;
  const { kind, error_code, message_preview = '' } = before.observed_outcome;
  const { texts, unread } = ownTexts(state, step);
  const evidence: ValueEvidence = {
    error_text: message_preview,
    stated: run.manifest[step.call.tool]?.stated ?? {},
    own_texts: texts,
  };
  // Other arguments for a tool that checks work mean that something else was checked, not that it was mended.
  const mayTell = run.manifest[step.call.tool]?.evaluates !== true && unread.length <= EARLIER_OUTPUTS;
  const changed = mayTell ? changedArguments(pickPlainArgs(failed.call.input), pickPlainArgs(step.call.input)) : [];
  const { told, unexplained } = sortArguments(changed, evidence);
  return {
    failure: describeFailure(failed.call.tool, error_code ?? kind),
    differences: [...differences],
    tool_name: step.call.tool,
    told,
    unexplained,
    constraints: withoutOrigins(step.attempts.at(-1)?.constraints),
    reported: after.changed === undefined ? null : hideData(after.changed, texts),
    earlier_outputs: unread.slice(0, EARLIER_OUTPUTS),
    goal_hash: sha256Hex(run.goal),
    input_hash: run.input === null ? null : hashOfJson(run.input),
  };
}

/** The run's own texts: goal, input, plan, what people wrote, and outputs that the state still has. The others by their ids. */
export function ownTexts(
  { run, loop, earlier, outbox, people }: RunState,
  last: Step | null,
): { texts: string[]; unread: string[] } {
  const before = [...earlier.steps.map(({ artifact_id }) => artifact_id), ...loop.steps.map(artifactOf)];
  const own = last === null ? null : artifactOf(last);
  const ids = [...new Set(before)].filter((id): id is string => id !== null && id !== own);
  const held = ids.flatMap((id) => outbox.outputs[id]?.output ?? []);
  return {
    texts: [
      run.goal,
      people.refined_goal ?? '',
      canonicalJson(run.input),
      canonicalJson(run.plan),
      ...people.feedback.map(({ text }) => text),
      ...held.map((output) => canonicalJson(output)),
    ],
    unread: ids.filter((id) => outbox.outputs[id] === undefined),
  };
}

/** Describes an attempt by the properties that can differ between two attempts. */
export function describeAction({ call }: Step, attempt: Attempt | undefined): AttemptInAction {
  const outcome = attempt?.outcome?.class === 'cancelled' ? null : attempt?.outcome;
  return {
    tool_name: call.tool,
    input_hash: attempt?.record?.attempted_action.input_hash ?? hashCached(call.input),
    constraints: withoutOrigins(attempt?.constraints),
    prompt_hash: outcome?.prompt?.enhanced_id ?? null,
    reported_changes: outcome?.changed === undefined ? [] : [outcome.changed],
    succeeded: outcome?.class === 'ok',
  };
}

function withoutOrigins(constraints: Constraints = {}): Omit<Constraints, 'origins'> {
  const { origins: _origins, ...rest } = constraints;
  return rest;
}
