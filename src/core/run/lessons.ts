import { toolCallId } from '../../protocol/ids.ts';
import type { LearntLesson, RunLesson } from '../../protocol/lessons.ts';
import { LIMIT } from '../../protocol/limits.ts';
import type { FailureRecord } from '../../protocol/schemas/failure-record.ts';
import type { CallFailed, CallSucceeded, Constraints, Guidance, GuidanceRow } from '../../protocol/tools.ts';
import { oneSpace } from '../failures/clean-text.ts';
import { behaviourChanged } from '../reflections/behaviour-changed.ts';
import { describeFailure, lessonText, plainArgs } from '../reflections/lesson-text.ts';
import { hashOnce } from './failure-records.ts';
import type { RunPorts } from './ports.ts';
import type { FailedAction, RunState, StepInFlight } from './state.ts';

/**
 * What earlier runs learnt, and what this one learns. Memory is a help, never a gate: whatever goes wrong with it, the
 * run goes on as if nothing had been remembered.
 */
export const rememberedByLessons = (state: RunState): boolean => state.run.policy.memory.scope !== 'run';

/** Asks the memory about a failure, once per fingerprint. */
export async function askMemory(
  state: RunState,
  ports: RunPorts,
  step: StepInFlight,
  record: FailureRecord,
): Promise<void> {
  const { fingerprint, signal_type, attempted_action: action, observed_outcome: outcome } = record;
  const { scope, similarity_threshold } = state.run.policy.memory;
  if (scope === 'run' || state.recalled.some((asked) => asked.fingerprint === fingerprint)) return;
  const asked = { fingerprint, reflection_ids: [] as number[] };
  state.recalled = [...state.recalled, asked].slice(-LIMIT.fingerprintsInState);
  const found = await ports.recall({
    run_id: state.run.run_id,
    agent: state.run.agent,
    scope,
    error_type: signal_type,
    fingerprint,
    description: describeFailure(action.tool_name, outcome.error_code ?? outcome.kind),
    similarity_threshold,
  });
  asked.reflection_ids = found.map((lesson) => lesson.reflection_id);
  step.recalled.push(...found);
  ports.log({ event: 'memory_asked', fingerprint, seen_before: found.length > 0, lessons: asked.reflection_ids });
}

/** What a step recalled is the run's once the step has ended, in step order; those it started with are never given up. */
export function foldRecalled(state: RunState, step: StepInFlight): void {
  if (step.recalled.length === 0) return;
  const known = new Set(state.lessons.map((lesson) => lesson.reflection_id));
  const fresh = step.recalled.filter((lesson) => !known.has(lesson.reflection_id));
  step.recalled = [];
  const atStart = state.run.memory.lessons.length;
  const room = LIMIT.lessonsInState - atStart;
  state.lessons = [...state.lessons.slice(0, atStart), ...[...state.lessons.slice(atStart), ...fresh].slice(-room)];
}

/** Lessons about this very failure come first, for they say what worked; those about the tool come after its failures. */
export function withLessons(
  state: RunState,
  step: StepInFlight,
  guidance: Guidance,
  fingerprint: string | null,
): Guidance {
  const known = new Set(state.lessons.map((lesson) => lesson.reflection_id));
  const lessons = [...state.lessons, ...step.recalled.filter((lesson) => !known.has(lesson.reflection_id))];
  if (lessons.length === 0) return guidance;
  const { guidance_k: k, guidance_max_chars: maxChars } = state.run.policy.failures;
  const concerning = lessons.filter(
    ({ tools }) => step.kind === 'planner' || tools.length === 0 || tools.includes(step.tool),
  );
  const same = concerning.filter((lesson) => isAboutFailure(state, lesson, fingerprint));
  const others = concerning.filter((lesson) => !same.includes(lesson));
  const rows = [
    ...same.map((lesson) => rowOf(lesson, 4, 'the same failure was seen in an earlier run, and this worked')),
    ...guidance.rows,
    ...others.map((lesson) => rowOf(lesson, 2, 'learnt with the same tool in an earlier run')),
  ].slice(0, k);
  const fitting: GuidanceRow[] = [];
  let chars = 0;
  for (const row of rows) {
    if (chars + row.text.length > maxChars) continue;
    chars += row.text.length + 1;
    fitting.push(row);
  }
  return { rows: fitting, text: fitting.map((row) => row.text).join('\n') };
}

function isAboutFailure(state: RunState, lesson: RunLesson, fingerprint: string | null): boolean {
  if (fingerprint === null) return false;
  if (lesson.fingerprint === fingerprint) return true;
  const asked = state.recalled.find((recalled) => recalled.fingerprint === fingerprint);
  return asked?.reflection_ids.includes(lesson.reflection_id) === true;
}

const rowOf = ({ reflection_id, content }: RunLesson, relevance: number, why: string): GuidanceRow => ({
  fingerprint: `lesson:${reflection_id}`,
  failure_id: '',
  relevance,
  why: `lesson ${reflection_id}: ${why}`,
  text: oneSpace(content).slice(0, LIMIT.lessonChars),
  reflection_id,
});

/** How the attempt went that was shown these lessons: what ranks them for the next run. */
export function noteLessonUses(state: RunState, step: StepInFlight, guidance: Guidance, succeeded: boolean): void {
  if (step.kind === 'planner') return;
  for (const { reflection_id } of guidance.rows) {
    if (reflection_id === undefined) continue;
    const { run_id } = state.run;
    const use_id = `${toolCallId(run_id, step.step_id, step.attempt)}:l${reflection_id}`;
    state.outbox.lesson_uses.push({ use_id, reflection_id, run_id, succeeded });
  }
  keepLatest(state.outbox.lesson_uses, LIMIT.outboxUses);
}

/** What the next attempt will be compared with. */
export const failedAction = (step: StepInFlight, failure: CallFailed, record: FailureRecord): FailedAction => ({
  tool: step.tool,
  input_hash: hashOnce(step.input),
  args: plainArgs(step.input),
  constraints: withoutOrigins(step.constraints),
  prompt_id: failure.prompt?.enhanced_id ?? null,
  changed: failure.changed ?? null,
  fingerprint: record.fingerprint,
  error_type: record.signal_type,
  error_code: record.observed_outcome.error_code ?? record.observed_outcome.kind,
  use_other_tool: record.recommended_adjustment.type === 'use_other_tool',
});

/** A step that failed for good waits, with a planner that chooses, for the step that does better. */
export function keepFailedAction(state: RunState, step: StepInFlight): void {
  if (step.failed === null || state.run.planner !== 'chooses') return;
  const { failed } = step;
  state.loop.failed = [...state.loop.failed.filter((one) => one.tool !== failed.tool), failed].slice(-KEPT_FAILED);
}
const KEPT_FAILED = 8;

/** The gate: a lesson is kept only when the attempt that followed differed in action and did better. */
export function learnFromSuccess(state: RunState, step: StepInFlight, outcome: CallSucceeded): void {
  const before = step.failed ?? precedingFailure(state, step);
  if (before === null) return;
  state.loop.failed = state.loop.failed.filter((one) => one !== before);
  if (!rememberedByLessons(state)) return;
  const change = behaviourChanged(inAction(before), {
    tool_name: step.tool,
    input_hash: hashOnce(step.input),
    constraints: withoutOrigins(step.constraints),
    prompt_hash: outcome.prompt?.enhanced_id ?? null,
    reported_changes: outcome.changed === undefined ? [] : [outcome.changed],
    succeeded: true,
  });
  if (change.changed_behavior) state.outbox.lessons.push(lessonOf(state, step, before, change.differences, outcome));
  keepLatest(state.outbox.lessons, LIMIT.outboxRecords);
}

function lessonOf(
  state: RunState,
  step: StepInFlight,
  before: FailedAction,
  differences: ReturnType<typeof behaviourChanged>['differences'],
  outcome: CallSucceeded,
): LearntLesson {
  const { run } = state;
  const { scope, similarity_threshold } = run.policy.memory;
  return {
    occurrence_id: `${toolCallId(run.run_id, step.step_id, step.attempt)}:lesson`,
    scope: scope === 'global' ? 'global' : 'agent',
    error_type: before.error_type,
    fingerprint: before.fingerprint,
    content: lessonText(describeFailure(before.tool, before.error_code), {
      differences,
      tool_name: step.tool,
      args_before: before.args,
      args_after: plainArgs(step.input),
      constraints: withoutOrigins(step.constraints),
      reported: outcome.changed ?? null,
    }),
    context: `step ${step.step_id} (${step.phase}) of run ${run.run_id}`,
    query: outcome.query ?? run.goal.slice(0, LIMIT.messagePreviewChars),
    iteration: step.attempt,
    quality_delta: 1,
    tools: [...new Set([before.tool, step.tool])],
    similarity_threshold,
  };
}

/**
 * The failure that a chosen step answers: of the same tool with other arguments or, where the advice was to go another way,
 * the latest of another tool. That something unrelated worked afterwards teaches nothing.
 */
function precedingFailure(state: RunState, step: StepInFlight): FailedAction | null {
  const { failed } = state.loop;
  if (failed.length === 0 || step.plan_index !== null) return null;
  const ofTool = failed.find((one) => one.tool === step.tool);
  if (ofTool !== undefined) return ofTool;
  const latest = failed.at(-1);
  return latest?.use_other_tool === true ? latest : null;
}

const inAction = (failed: FailedAction) => ({
  tool_name: failed.tool,
  input_hash: failed.input_hash,
  constraints: failed.constraints,
  prompt_hash: failed.prompt_id,
  reported_changes: failed.changed === null ? [] : [failed.changed],
  succeeded: false,
});

const withoutOrigins = ({ origins: _origins, ...constraints }: Constraints): Constraints => constraints;

function keepLatest(list: unknown[], most: number): void {
  list.splice(0, Math.max(0, list.length - most));
}
