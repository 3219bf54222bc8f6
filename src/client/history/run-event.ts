import type { Json } from '../../protocol/json.ts';
import type { AnswerKind, EditedInput, InputChange, PendingQuestion } from '../../protocol/questions.ts';
import type { RunOutcome } from '../../protocol/run.ts';
import type { CallFailed, GuidanceRow } from '../../protocol/tools.ts';

/** The step and the pass of an attempt. */
export interface AttemptPlace {
  loop_id: string;
  step_id: number;
  attempt: number;
  phase: string;
  tool: string;
  /** If another agent does the step: the run that does this attempt. */
  sub_run_id?: string;
}

interface AttemptEnded extends AttemptPlace {
  event: 'attempt_ended';
  outcome: 'ok' | 'failed' | 'cancelled';
  started_at: string;
  ended_at: string;
  wait_ms: number;
  /** For a failed attempt: why it failed. */
  failure?: Pick<CallFailed, 'category' | 'error_code' | 'message_preview' | 'certainty' | 'origin'>;
  /** For an attempt that succeeded: the id of its output. */
  artifact_id?: string;
  /** True if the attempt gave no answer, and the tool found out later that its effect did happen. */
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
  /** Null if the record was not made by a call, but by a person or a budget. */
  tool_call_id: string | null;
  kind: string;
  error_code: string | null;
  message_preview: string | null;
  manifest_id: string | null;
  created_at: string;
}

/** What can happen to a run. `source` tells what a person sent from what the run itself found. */
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
  | { event: 'step_started'; loop_id: string; step_id: number; phase: string; tool: string; sub_run_id?: string }
  /** A run that was started elsewhere works for this one, and asked for a part of its budget. */
  | { event: 'sub_run_joined'; sub_run_id: string }
  | AttemptEnded
  | FailureRecorded
  /** `step_id` is null for a planner turn, which is not a step. */
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
      /** The attempt after the wait. */
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
      /** What the person changed in the input of the call that was approved. */
      changes?: InputChange[];
    }
  | { event: 'review'; source: 'run'; loop_id: string; [field: string]: Json }
  | { event: 'review'; source: 'person'; by: string; text: string }
  | { event: 'decision'; source: 'run'; loop_id: string; decision: 'rerun' | 'finalize'; [field: string]: Json }
  | {
      event: 'decision';
      source: 'person';
      decision: 'override' | 'supersede' | 'cancel';
      by: string;
      reason: string | null;
    }
  | ({ event: 'run_ended' } & RunEnding);

export interface RunEnding {
  outcome: RunOutcome;
  reason: string;
  why: string;
  /** The number of passes; null if the run was closed from outside. */
  loops: number | null;
  questions: number | null;
  used: Json;
  failures: Json;
  artifact_id: string | null;
}

/** One event of a run. `id` is stable and orders all events of the run. */
export type RunEvent = { id: string; at: string } & RunFact;

/**
 * What only the list of steps needs: the start of an attempt with its input, and the output of one that succeeded. These are not public
 * events, because they hold values as the tool got and gave them.
 */
export type AttemptStarted = { event: 'attempt_started'; wait_ms: number; input: Json } & AttemptPlace;
export interface AttemptOutput {
  event: 'attempt_output';
  step_id: number;
  attempt: number;
  output: RecordedOutput;
}
/** An output as history has it. A large one is only in the store. */
export interface RecordedOutput {
  value: Json;
  inline: boolean;
  artifact_id: string | null;
  bytes: number;
}
/** A person changed the input of a step before it ran. */
export interface InputEdited {
  event: 'input_edited';
  step_id: number;
  edited: EditedInput;
}
export type StepFact = AttemptStarted | AttemptOutput | InputEdited;
export type Fact = RunFact | StepFact;
