import { toolCallId } from '../../protocol/ids.ts';
import { defined } from '../../protocol/json.ts';
import type { RunLesson } from '../../protocol/lessons.ts';
import { CAP } from '../../protocol/caps.ts';
import type { FailureRecord } from '../../protocol/schemas/failure-record.ts';
import { schemasOfTools } from '../lessons/changed-schema.ts';
import { compareBehaviour } from '../lessons/compare-behaviour.ts';
import { describeFailure } from '../lessons/lesson-text.ts';
import { type Attempt, lastRecorded, type Step, successOf } from './attempts.ts';
import { describeAction, makeLesson } from './make-lesson.ts';
import { keepLatest } from './outbox.ts';
import type { RunState } from './state.ts';
import type { Story } from './story.ts';

/**
 * Asks the memory for lessons of earlier runs about a failure, once for each fingerprint. The memory is optional: when
 * it fails or is slow, the run continues without it.
 */
export async function recallLessons({ state, ports }: Story, attempt: Attempt, record: FailureRecord): Promise<void> {
  const { fingerprint, signal_type, attempted_action: action, observed_outcome: outcome } = record;
  const { scope, similarity_threshold } = state.run.policy.memory;
  const { lessons } = state;
  if (scope === 'run' || lessons.asked.some((asked) => asked.fingerprint === fingerprint)) return;
  const asked = { fingerprint, reflection_ids: [] as number[] };
  lessons.asked = [...lessons.asked, asked].slice(-CAP.fingerprintsInState);
  const found = await ports.recall({
    run_id: state.run.run_id,
    agent: state.run.agent,
    tenant: state.run.tenant ?? null,
    scope,
    error_type: signal_type,
    fingerprint,
    tool_name: action.tool_name,
    ...defined({ error_text: outcome.message_preview }),
    description: describeFailure(action.tool_name, outcome.error_code ?? outcome.kind),
    similarity_threshold,
    tool_schemas: schemasOfTools(state.run.manifest, action.tool_name === null ? [] : [action.tool_name]),
  });
  asked.reflection_ids = found.map((lesson) => lesson.reflection_id);
  if (found.length > 0) attempt.recalled = found;
  ports.log({ event: 'memory_asked', fingerprint, seen_before: found.length > 0, lessons: asked.reflection_ids });
}

/** Adds what a step has recalled to what the run knows. Lessons that the run started with are never dropped. */
export function keepRecalled(state: RunState, step: Step): void {
  const recalled: RunLesson[] = [];
  for (const attempt of step.attempts) {
    if (attempt.recalled === undefined) continue;
    recalled.push(...attempt.recalled);
    delete attempt.recalled;
  }
  if (recalled.length === 0) return;
  const { known } = state.lessons;
  const ids = new Set(known.map((lesson) => lesson.reflection_id));
  const fresh = recalled.filter((lesson) => !ids.has(lesson.reflection_id));
  const atStart = state.run.memory.lessons.length;
  const room = CAP.lessonsInState - atStart;
  state.lessons.known = [...known.slice(0, atStart), ...[...known.slice(atStart), ...fresh].slice(-room)];
}

/** Queues whether the attempts that were shown lessons succeeded. This ranks the lessons for later runs. */
export function readLessonUses(state: RunState, step: Step): void {
  if (step.kind === 'planner') return;
  const { run_id } = state.run;
  for (const { n, guidance, outcome, record } of step.attempts.slice(step.attempts_read)) {
    if (guidance === undefined || (outcome?.class !== 'ok' && record === undefined)) continue;
    for (const { reflection_id } of guidance.rows) {
      if (reflection_id === undefined) continue;
      const use_id = `${toolCallId(run_id, step.step_id, n)}:l${reflection_id}`;
      state.outbox.lesson_uses.push({ use_id, reflection_id, run_id, succeeded: outcome?.class === 'ok' });
    }
  }
  keepLatest(state.outbox.lesson_uses, CAP.outboxUses);
}

/** The most failed steps, not yet solved by a later step, that the run keeps to learn from. */
const OPEN_FAILURES = 8;

/** Keeps a step that failed for good, so that a later step of the same planner can teach what works instead. */
export function keepOpenFailure(state: RunState, step: Step): void {
  if (lastRecorded(step) === undefined) return;
  const open = openFailures(state).filter((other) => other !== step);
  const sameTool = open.filter((other) => other.call.tool === step.call.tool);
  const others = open.filter((other) => !sameTool.includes(other));
  for (const other of [...sameTool, ...others.slice(0, 1 - OPEN_FAILURES)]) other.answered = true;
}

function openFailures({ run, loop }: RunState): Step[] {
  if (run.planner !== 'chooses') return [];
  return loop.steps.filter(
    (step) => step.end?.kind === 'failed' && step.answered !== true && lastRecorded(step) !== undefined,
  );
}

/** Learns a lesson from a success, but only if it came after a failure and the action really changed. */
export function learnFromSuccess(state: RunState, step: Step): void {
  const after = successOf(step);
  const failed = lastRecorded(step) === undefined ? answeredFailure(state, step) : step;
  const before = failed === null ? undefined : lastRecorded(failed);
  if (failed === null || before === undefined || after === null) return;
  if (failed !== step) failed.answered = true;
  if (state.run.policy.memory.scope === 'run') return;
  const change = compareBehaviour(describeAction(failed, before), describeAction(step, step.attempts.at(-1)));
  if (change.changed_behavior) {
    const lesson = makeLesson(state, { failed, before: before.record, step, after }, change.differences);
    if (lesson !== null) state.outbox.lessons.push(lesson);
  }
  keepLatest(state.outbox.lessons, CAP.outboxRecords);
}

/**
 * Finds the failure that a successful step solves: a failure of the same tool or, if the advice was to use another
 * tool, the latest failure of another tool. An unrelated success teaches nothing.
 */
function answeredFailure(state: RunState, step: Step): Step | null {
  if (step.call.plan_index !== null) return null;
  const open = openFailures(state);
  const sameTool = open.findLast((other) => other.call.tool === step.call.tool);
  if (sameTool !== undefined) return sameTool;
  const latest = open.at(-1);
  const advice = latest === undefined ? undefined : lastRecorded(latest)?.record.recommended_adjustment.type;
  return latest !== undefined && advice === 'use_other_tool' ? latest : null;
}
