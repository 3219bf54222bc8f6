import { CAP } from '../../protocol/caps.ts';
import type { RunLesson } from '../../protocol/lessons.ts';
import { REVIEW } from '../../protocol/names.ts';
import type { Constraints, Guidance, GuidanceRow } from '../../protocol/tools.ts';
import { collapseSpaces } from '../failures/clean-text.ts';
import { quoteFrom } from '../failures/quote.ts';
import { renderSuspicion } from '../failures/render-guidance.ts';
import { isLearntText } from '../lessons/lesson-text.ts';
import { deriveConstraints } from '../failures/constraints.ts';
import type { FailureMemory, FoldedFailure } from '../failures/folded-failure.ts';
import { type GuidanceSituation, selectGuidance } from '../failures/guidance.ts';
import { actionableFailures } from './actionable-failures.ts';
import { lastRecorded, type Step } from './attempts.ts';
import { correctedFailure, correctionRows } from './corrections.ts';
import { pressureRows } from './pressure-row.ts';
import { hasUnread, memoryWith } from './read-failures.ts';
import type { RunState } from './state.ts';
import { isWithheldHere } from './trials.ts';

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
export function guidanceFor(state: RunState, step: Step): AttemptGuidance {
  const { guidance_k: k, guidance_max_chars: maxChars } = state.run.policy.failures;
  const corrections = correctionRows(state, step).slice(0, Math.max(1, k));
  // In `observe` mode the run adds nothing of its own, because that would change it. A person changes it on purpose.
  if (state.run.policy.mode === 'observe') return buildGuidance(corrections);
  const knowsFailures = state.failures.total > 0 || hasUnread(step);
  const hints = suspicionRows(state, step);
  if (!knowsFailures && state.lessons.known.length === 0) return buildGuidance([...corrections, ...hints]);

  const memory = actionableFailures(state, step, knowsFailures ? memoryWith(state, step) : state.failures);
  const situation = describeSituation(memory, step, correctedFailure(state));
  const unsaid = withoutCorrections(memory, corrections);
  const chosen = knowsFailures ? selectGuidance(unsaid, situation, { k, maxChars }).rows : [];
  const pressure = pressureRows(state, step).slice(0, Math.max(0, k - corrections.length));
  const own = withLessons(state, step, chosen, situation.fingerprint ?? null);
  const room = Math.max(0, k - corrections.length - pressure.length);
  const rows = fitting([...own.slice(0, room), ...hints], maxChars - (pressure[0]?.text.length ?? 0));
  const found: AttemptGuidance = buildGuidance([...corrections, ...rows, ...pressure]);
  const constraints = step.kind === 'planner' ? null : deriveConstraints(memory, step.call.tool);
  if (constraints !== null) found.constraints = constraints;
  return found;
}

/**
 * A hint for the planner while its latest call looks like a repetition. It is no failure: nothing is recorded, and it
 * is gone with the next call that looks different.
 */
function suspicionRows({ loop }: RunState, step: Step): GuidanceRow[] {
  const { suspicion } = loop.watch;
  if (suspicion === undefined || step.kind !== 'planner') return [];
  const { rule, tool_name, repeats } = suspicion;
  const why = `suspect: ${rule}, seen ${repeats} times`;
  return [
    { fingerprint: `suspect:${rule}`, failure_id: '', relevance: 2, why, text: renderSuspicion({ rule, tool_name }) },
  ];
}

/** Joins the rows into the text that is shown. Each row is whole; what does not fit was left out before. */
function buildGuidance(rows: GuidanceRow[]): { guidance?: Guidance } {
  if (rows.length === 0) return {};
  return { guidance: { rows, text: rows.map((row) => row.text).join('\n') } };
}

/** A correction that is shown with its text needs no row that only says that there was one. */
function withoutCorrections(memory: FailureMemory, shown: readonly GuidanceRow[]): FailureMemory {
  if (shown.length === 0) return memory;
  const ids = new Set(shown.map(({ failure_id }) => failure_id));
  return {
    ...memory,
    by_fingerprint: memory.by_fingerprint.filter(({ last_failure_id }) => !ids.has(last_failure_id)),
  };
}

/**
 * Describes what the guidance should be about. For a planner's turn that is the latest failure, until a step succeeds
 * again. A person's answer does not change that: the answer is about the failure and does not take its place.
 */
function describeSituation(memory: FailureMemory, step: Step, corrected: string | null): GuidanceSituation {
  const last = lastRecorded(step)?.record;
  const isShown = memory.by_fingerprint.some(({ fingerprint }) => fingerprint === last?.fingerprint);
  const own = step.kind === 'planner' && !isShown ? undefined : last;
  if (own === undefined && step.kind === 'planner') {
    const open = memory.by_fingerprint.filter(
      // A budget warning is not a tool failure and must not hide one.
      ({ status, tool_name, since_progress, fingerprint }) =>
        status === 'active' && tool_name !== null && (since_progress > 0 || fingerprint === corrected),
    );
    const latest = open.sort(
      (one, other) => Number(isCorrection(one)) - Number(isCorrection(other)) || other.last_ordinal - one.last_ordinal,
    )[0];
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

const isCorrection = ({ signal_type }: FoldedFailure): boolean => signal_type === 'human_correction';

/** Adds lessons of earlier runs: those about this failure come first, those about the tool after the run's own failures. */
function withLessons(state: RunState, step: Step, own: GuidanceRow[], fingerprint: string | null): GuidanceRow[] {
  const { known } = state.lessons;
  if (known.length === 0 && !step.attempts.some(({ recalled }) => recalled !== undefined)) return own;
  const ids = new Set(known.map((lesson) => lesson.reflection_id));
  const recalled = step.attempts.flatMap((attempt) => attempt.recalled ?? []);
  const lessons = [...known, ...recalled.filter((lesson) => !ids.has(lesson.reflection_id))].filter(
    (lesson) => !isWithheldHere(state, lesson),
  );
  if (lessons.length === 0) return own;
  const concerning = lessons.filter(
    ({ tools }) => step.kind === 'planner' || tools.length === 0 || tools.includes(step.call.tool),
  );
  const same = concerning.filter((lesson) => isAboutFailure(state, lesson, fingerprint));
  const others = concerning.filter((lesson) => !same.includes(lesson));
  return [
    ...same.map((lesson) => lessonRow(lesson, 4, whyAbout(lesson, fingerprint))),
    ...own,
    ...others.map((lesson) => lessonRow(lesson, 2, whereLearnt(lesson))),
  ];
}

const whyAbout = ({ similar, fingerprint: learntFrom }: RunLesson, fingerprint: string | null): string =>
  similar === true && learntFrom !== fingerprint
    ? 'the same error was seen in other words in an earlier run, and this worked'
    : 'the same failure was seen in an earlier run, and this worked';

const whereLearnt = ({ tools }: RunLesson): string =>
  tools.includes(REVIEW)
    ? 'a review of an earlier run found it missing'
    : 'learnt with the same tool in an earlier run';

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
