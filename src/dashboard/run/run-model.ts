import { letterOf, shadeOf } from '../../core/strip/strip-marks.ts';
import { defined } from '../../protocol/json.ts';
import type { RunOutcome } from '../../protocol/run.ts';
import type { RunEvent } from '../../client/history/run-event.ts';

/** One square of the strip. */
export interface AttemptMark {
  kind: 'attempt';
  step_id: number;
  attempt: number;
  phase: string;
  tool: string;
  outcome: 'ok' | 'failed' | 'cancelled' | 'running';
  started_at: string;
  ended_at: string | null;
  wait_ms: number;
  /** The failure in words, if it failed. */
  failed?: string;
  /** The attempt ended because its worker was lost; another worker continues. */
  isWorkerLost?: boolean;
  fingerprint?: string;
  /** The run that does this attempt, if another agent does the step. */
  sub_run_id?: string;
}
export type Mark =
  | AttemptMark
  | { kind: 'guidance'; step_id: number | null; attempt: number; text: string; at: string }
  | { kind: 'wait'; step_id: number | null; attempt: number | null; why: string; at: string; wait_ms: number }
  | {
      kind: 'question';
      question_id: string;
      text: string;
      at: string;
      answer: string | null;
      closed_at: string | null;
    };

/** One line of the strip. */
export interface Pass {
  loop_id: string;
  marks: Mark[];
  /** Why another pass followed, or why the run ended after this one. */
  decision: string | null;
}

/** One fingerprint of the run. The letter carries the meaning; the shade only helps. */
export interface KnownFailure {
  fingerprint: string;
  letter: string;
  shade: number;
  name: string;
  count: number;
}

/** What the first event tells about a run. It is there before the run itself has answered. */
export interface RunBeginning {
  agent: string;
  goal: string;
  started_at: string;
}

export interface RunModel {
  beginning: RunBeginning | null;
  /** How it ended, in one sentence. */
  why: string | null;
  /** Runs that were started elsewhere and work for this one. */
  joined: string[];
  passes: Pass[];
  failures: KnownFailure[];
  started_at: string | null;
  ended_at: string | null;
  outcome: RunOutcome | null;
}

/** Reads what the page shows from the events of a run. A pure function, so that a stream that continues gives the same picture. */
export function readRun(events: readonly RunEvent[]): RunModel {
  const model: RunModel = {
    beginning: null,
    why: null,
    joined: [],
    passes: [],
    failures: [],
    started_at: null,
    ended_at: null,
    outcome: null,
  };
  const attempts = new Map<string, AttemptMark>();
  const questions = new Map<string, Extract<Mark, { kind: 'question' }>>();
  const known = new Map<string, KnownFailure>();

  const passOf = (loopId: string): Pass => {
    const found = model.passes.find((pass) => pass.loop_id === loopId);
    if (found !== undefined) return found;
    const pass: Pass = { loop_id: loopId, marks: [], decision: null };
    model.passes.push(pass);
    return pass;
  };
  const current = (): Pass => model.passes.at(-1) ?? passOf('');
  const put = (place: { loop_id: string }, mark: AttemptMark): AttemptMark => {
    const key = `${mark.step_id}:${mark.attempt}`;
    const before = attempts.get(key);
    if (before !== undefined) return Object.assign(before, mark);
    attempts.set(key, mark);
    passOf(place.loop_id).marks.push(mark);
    return mark;
  };

  for (const event of events) {
    switch (event.event) {
      case 'run_started':
        model.started_at ??= event.at;
        model.beginning ??= { agent: event.agent, goal: event.goal, started_at: event.at };
        passOf(event.loop_id);
        break;
      case 'step_started':
        put(event, running(event, 1, event.at));
        break;
      case 'sub_run_joined':
        if (!model.joined.includes(event.sub_run_id)) model.joined.push(event.sub_run_id);
        break;
      case 'guidance_shown': {
        const { step_id, attempt, guidance: text, at } = event;
        passOf(event.loop_id).marks.push({ kind: 'guidance', step_id, attempt, text, at });
        if (step_id !== null) put(event, running({ ...event, step_id }, attempt, at));
        break;
      }
      case 'attempt_ended': {
        const { step_id, attempt, phase, tool, outcome, ended_at, wait_ms, failure } = event;
        const began = attempts.get(`${step_id}:${attempt}`);
        const started_at = event.reconciled && began ? began.started_at : event.started_at;
        put(event, {
          kind: 'attempt',
          step_id,
          attempt,
          phase,
          tool,
          outcome,
          started_at,
          ended_at,
          wait_ms,
          ...defined({ sub_run_id: event.sub_run_id }),
          ...(failure && { failed: `${failure.category} ${failure.error_code}: ${failure.message_preview}` }),
          ...(failure?.category === 'worker_lost' && { isWorkerLost: true }),
        });
        break;
      }
      case 'failure_recorded': {
        const index = known.size;
        const name = [event.signal_type, event.tool_name, event.error_code ?? event.kind].filter(Boolean).join(' · ');
        const entry = known.get(event.fingerprint) ?? {
          fingerprint: event.fingerprint,
          letter: letterOf(index),
          shade: shadeOf(index),
          name,
          count: 0,
        };
        entry.count += 1;
        known.set(event.fingerprint, entry);
        const attempt = attempts.get(`${event.step_id}:${event.attempt}`);
        if (attempt?.tool === event.tool_name) attempt.fingerprint = event.fingerprint;
        break;
      }
      case 'waiting': {
        const { step_id, attempt, why, at, wait_ms } = event;
        // While it waits for an answer, the question itself is the mark.
        if (event.reason !== 'answer') current().marks.push({ kind: 'wait', step_id, attempt, why, at, wait_ms });
        break;
      }
      case 'question_asked': {
        const { question_id, text, at } = event;
        if (questions.has(question_id)) break;
        const mark = { kind: 'question', question_id, text, at, answer: null, closed_at: null } as const;
        questions.set(question_id, { ...mark });
        current().marks.push(questions.get(question_id) ?? mark);
        break;
      }
      case 'answered': {
        const question = questions.get(event.question_id);
        if (question === undefined) break;
        const { decision, kind, by } = event;
        question.answer = decision === null ? kind.replace('_', ' ') : `${decision}${by === null ? '' : ` by ${by}`}`;
        question.closed_at = event.at;
        break;
      }
      case 'decision':
        if (event.source === 'run') passOf(event.loop_id).decision = decisionText(event);
        break;
      case 'run_ended':
        model.ended_at = event.at;
        model.outcome = event.outcome;
        model.why = `${event.outcome}: ${event.why}.`;
        for (const mark of attempts.values()) if (mark.outcome === 'running') mark.outcome = 'cancelled';
        break;
      case 'review':
        break;
    }
  }
  model.failures = [...known.values()];
  return model;
}

const running = (
  place: { step_id: number; phase: string; tool: string; sub_run_id?: string },
  attempt: number,
  started_at: string,
): AttemptMark => ({
  kind: 'attempt',
  step_id: place.step_id,
  attempt,
  phase: place.phase,
  tool: place.tool,
  outcome: 'running',
  started_at,
  ended_at: null,
  wait_ms: 0,
  ...defined({ sub_run_id: place.sub_run_id }),
});

function decisionText(event: Extract<RunEvent, { event: 'decision'; source: 'run' }>): string {
  const detail = event['rerun_reason_detail'] ?? event['finalize_reason'] ?? event['rerun_reason'];
  return `${event.decision}${typeof detail === 'string' && detail !== '' ? `: ${detail.replaceAll('_', ' ')}` : ''}`;
}

/** What a mark means, in one sentence. */
export function sentenceOf(mark: Mark, letter?: string): string {
  switch (mark.kind) {
    case 'guidance':
      return `Guidance before attempt ${mark.attempt}${mark.step_id === null ? ' of the planner' : ` of step ${mark.step_id}`}.`;
    case 'wait':
      return `Waited ${Math.round(mark.wait_ms / 100) / 10} s: ${mark.why}.`;
    case 'question':
      return `Question: ${mark.text} ${mark.answer === null ? 'Not answered yet.' : `Answer: ${mark.answer}.`}`;
    case 'attempt': {
      const place = `Attempt ${mark.attempt} of step ${mark.step_id}, ${mark.tool}`;
      if (mark.isWorkerLost) return `${place}: its worker was lost; another worker continued.`;
      if (mark.outcome === 'failed')
        return `${place}: failed${letter === undefined ? '' : ` as ${letter}`}. ${mark.failed ?? ''}`;
      return `${place}: ${mark.outcome === 'ok' ? 'succeeded' : mark.outcome}.`;
    }
  }
}
