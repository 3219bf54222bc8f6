import { CAP } from '../../protocol/caps.ts';
import type { RunLesson } from '../../protocol/lessons.ts';
import type { Constraints, Guidance, GuidanceRow } from '../../protocol/tools.ts';
import { collapseSpaces } from '../failures/clean-text.ts';
import { quote, quoteFrom } from '../failures/quote.ts';
import { isLearntText } from '../lessons/lesson-text.ts';
import { deriveConstraints } from '../failures/constraints.ts';
import type { FailureMemory } from '../failures/folded-failure.ts';
import { type GuidanceSituation, selectGuidance } from '../failures/guidance.ts';
import { actionableFailures } from './actionable-failures.ts';
import { type Allowance, correctionOf, lastRecorded, type Step } from './attempts.ts';
import { hasUnread, memoryWith } from './read-failures.ts';
import type { RunState } from './state.ts';

/** Guidance and constraints of one attempt. Each is absent when there is nothing to say. */
export interface AttemptGuidance {
  guidance?: Guidance;
  constraints?: Constraints;
}

/**
 * Selects the guidance for the next attempt of a step, from the failures that the run knew when the batch began and
 * from the step's own failures since. It does not use failures of parallel steps, because they arrive in no fixed
 * order.
 */
export function guidanceFor(state: RunState, step: Step, allowed?: Allowance): AttemptGuidance {
  // In `observe` mode nothing is shown, because guidance would change the run.
  if (state.run.policy.mode === 'observe') return {};
  const correction = allowed?.decision === 'correct' ? allowed : correctionOf(step);
  const knowsFailures = state.failures.total > 0 || hasUnread(step);
  if (!knowsFailures && correction === undefined && state.lessons.known.length === 0) return {};

  const memory = actionableFailures(state, step, knowsFailures ? memoryWith(state, step) : state.failures);
  const { guidance_k: k, guidance_max_chars: maxChars } = state.run.policy.failures;
  const situation = describeSituation(memory, step);
  const chosen = knowsFailures ? selectGuidance(memory, situation, { k, maxChars }).rows : [];
  const rows = withLessons(state, step, chosen, situation.fingerprint ?? null);
  const constraints = step.kind === 'planner' ? {} : deriveConstraints(memory, step.call.tool);
  return {
    ...buildGuidance(
      correction === undefined ? rows : withCorrection(rows, step, correction).slice(0, Math.max(1, k)),
      state,
    ),
    ...(Object.keys(constraints).length > 0 && { constraints }),
  };
}

/** Joins the rows into the text that is shown. The first row always fits; the text is cut to the policy's size. */
function buildGuidance(rows: GuidanceRow[], { run }: RunState): { guidance?: Guidance } {
  const [first] = rows;
  if (first === undefined) return {};
  const text = rows.map((row) => row.text).join('\n');
  const most = Math.max(run.policy.failures.guidance_max_chars, first.text.length);
  return { guidance: { rows, text: text.slice(0, most) } };
}

/**
 * Describes what the guidance should be about. For a planner's turn that is the latest failure, until a step succeeds
 * again.
 */
function describeSituation(memory: FailureMemory, step: Step): GuidanceSituation {
  const last = lastRecorded(step)?.record;
  const isShown = memory.by_fingerprint.some(({ fingerprint }) => fingerprint === last?.fingerprint);
  const own = step.kind === 'planner' && !isShown ? undefined : last;
  if (own === undefined && step.kind === 'planner') {
    const open = memory.by_fingerprint.filter(
      // A budget warning is not a tool failure and must not hide one.
      (failure) => failure.status === 'active' && failure.since_progress > 0 && failure.tool_name !== null,
    );
    const latest = open.sort((one, other) => other.last_ordinal - one.last_ordinal)[0];
    if (latest !== undefined) return latest;
  }
  return {
    tool_name: step.call.tool,
    phase: step.call.phase,
    fingerprint: own?.fingerprint,
    error_code: own?.observed_outcome.error_code,
    signal_type: own?.signal_type,
  };
}

/** Adds lessons of earlier runs: those about this failure come first, those about the tool after the run's own failures. */
function withLessons(state: RunState, step: Step, own: GuidanceRow[], fingerprint: string | null): GuidanceRow[] {
  const { known } = state.lessons;
  const ids = new Set(known.map((lesson) => lesson.reflection_id));
  const recalled = step.attempts.flatMap((attempt) => attempt.recalled ?? []);
  const lessons = [...known, ...recalled.filter((lesson) => !ids.has(lesson.reflection_id))];
  if (lessons.length === 0) return own;
  const concerning = lessons.filter(
    ({ tools }) => step.kind === 'planner' || tools.length === 0 || tools.includes(step.call.tool),
  );
  const same = concerning.filter((lesson) => isAboutFailure(state, lesson, fingerprint));
  const others = concerning.filter((lesson) => !same.includes(lesson));
  const rows = [
    ...same.map((lesson) => lessonRow(lesson, 4, 'the same failure was seen in an earlier run, and this worked')),
    ...own,
    ...others.map((lesson) => lessonRow(lesson, 2, 'learnt with the same tool in an earlier run')),
  ];
  return fitting(rows.slice(0, state.run.policy.failures.guidance_k), state.run.policy.failures.guidance_max_chars);
}

/** Leaves out rows that do not fit; a row is never cut. */
function fitting(rows: GuidanceRow[], maxChars: number): GuidanceRow[] {
  const kept: GuidanceRow[] = [];
  let chars = 0;
  for (const row of rows) {
    if (chars + row.text.length > maxChars) continue;
    chars += row.text.length + 1;
    kept.push(row);
  }
  return kept;
}

function isAboutFailure({ lessons }: RunState, lesson: RunLesson, fingerprint: string | null): boolean {
  if (fingerprint === null) return false;
  if (lesson.fingerprint === fingerprint) return true;
  const asked = lessons.asked.find((one) => one.fingerprint === fingerprint);
  return asked?.reflection_ids.includes(lesson.reflection_id) === true;
}

const lessonRow = (
  { reflection_id, content, fingerprint }: RunLesson,
  relevance: number,
  why: string,
): GuidanceRow => ({
  fingerprint: `lesson:${reflection_id}`,
  failure_id: '',
  relevance,
  why: `lesson ${reflection_id}: ${why}`,
  text: lessonTextFor(content, fingerprint),
  reflection_id,
});

/**
 * A lesson that a run wrote has a fixed form made of names and codes, and is shown as it is. Everything else came from
 * outside (a report, or an edit by a person), so it is quoted.
 */
function lessonTextFor(content: string, fingerprint: string | null): string {
  const isOwn = fingerprint !== null && isLearntText(content);
  if (isOwn) return collapseSpaces(content).slice(0, CAP.lessonChars);
  return quoteFrom('reported from outside', content, CAP.lessonChars);
}

/** A person's correction is the first row: it is about this step and newer than anything the run has learnt. */
function withCorrection(rows: GuidanceRow[], step: Step, { text, by }: Allowance): GuidanceRow[] {
  const own = lastRecorded(step)?.record;
  const who = collapseSpaces(by ?? 'a person').slice(0, 60);
  const correction: GuidanceRow = {
    fingerprint: own?.fingerprint ?? '',
    failure_id: own?.failure_id ?? '',
    relevance: 4,
    why: `${who} corrected this step`,
    text: `If step ${step.step_id} is tried again, then do as ${quote(who, 60)} said: ${quote(text ?? '', CAP.textChars)}.`,
  };
  return [correction, ...rows];
}
