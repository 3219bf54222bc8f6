import type { Json } from '../../protocol/json.ts';
import type { AnswerKind, PendingQuestion, RunOutcome } from '../../protocol/run.ts';
import type { CallFailed, GuidanceRow } from '../../protocol/tools.ts';

/** Where an attempt belongs. */
export interface AttemptPlace {
  loop_id: string;
  step_id: number;
  attempt: number;
  phase: string;
  tool: string;
}

interface AttemptEnded extends AttemptPlace {
  event: 'attempt_ended';
  outcome: 'ok' | 'failed' | 'cancelled';
  started_at: string;
  ended_at: string;
  wait_ms: number;
  /** Of an attempt that failed: why. */
  failure?: Pick<CallFailed, 'category' | 'error_code' | 'message_preview' | 'certainty' | 'origin'>;
  /** Of an attempt that succeeded: its output, by id. */
  artifact_id?: string;
  /** It gave no answer, and the tool has found out since that its effect did happen. */
  reconciled?: true;
}

export interface FailureRecorded {
  event: 'failure_recorded';
  failure_id: string;
  step_id: number;
  attempt: number;
  phase: string;
  signal_type: string;
  severity: string;
  fingerprint: string;
  tool_name: string | null;
  /** null: no call made this record, but a person or a budget. */
  tool_call_id: string | null;
  kind: string;
  error_code: string | null;
  message_preview: string | null;
  manifest_id: string | null;
  created_at: string;
}

/** What a person sent to the run stands beside what the run itself found: `source` tells them apart. */
type RunFact =
  | {
      event: 'run_started';
      run_id: string;
      agent: string;
      goal: string;
      loop_id: string;
      labels: string[];
      parent_run_id: string | null;
    }
  | { event: 'step_started'; loop_id: string; step_id: number; phase: string; tool: string }
  | AttemptEnded
  | FailureRecorded
  /** `step_id` is null for a planner's turn, which is no step. */
  | (Omit<AttemptPlace, 'step_id'> & {
      event: 'guidance_shown';
      step_id: number | null;
      guidance: string;
      rows: GuidanceRow[];
    })
  | {
      event: 'waiting';
      reason: 'back_off' | 'answer' | 'other';
      why: string;
      wait_ms: number;
      until: string;
      step_id: number | null;
      /** The attempt that comes after the wait. */
      attempt: number | null;
    }
  /** `escalation` counts how often the question was passed on to the next person, with a new deadline. */
  | ({ event: 'question_asked'; escalation: number } & PendingQuestion)
  | {
      event: 'answered';
      question_id: string;
      kind: Exclude<AnswerKind, 'policy'> | 'cancelled';
      decision: string | null;
      text: string | null;
      by: string | null;
    }
  | { event: 'review'; source: 'run'; loop_id: string; [field: string]: Json }
  | { event: 'review'; source: 'person'; by: string; text: string }
  | { event: 'decision'; source: 'run'; loop_id: string; decision: 'rerun' | 'finalize'; [field: string]: Json }
  | { event: 'decision'; source: 'person'; decision: 'override' | 'cancel'; by: string; reason: string | null }
  | ({ event: 'run_ended' } & RunEnding);

export interface RunEnding {
  outcome: RunOutcome;
  reason: string;
  why: string;
  /** What the run counted; null when it was closed from outside before it could. */
  loops: number | null;
  questions: number | null;
  used: Json;
  failures: Json;
  artifact_id: string | null;
}

/** One thing that happened to a run; `id` is stable and orders all events of the run. */
export type RunEvent = { id: string; at: string } & RunFact;

/** A retry is no event of the outside contract; the list of steps needs to know of it all the same. */
export type AttemptStarted = { event: 'attempt_started'; wait_ms: number } & AttemptPlace;
export type Fact = RunFact | AttemptStarted;
