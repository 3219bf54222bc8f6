import type { FailureCategory } from './failure-categories.ts';

/** A lesson that a run carries: read before the workflow starts, or recalled at the first failure of its kind. */
export interface RunLesson {
  reflection_id: number;
  /** Describes what went wrong and what worked, written by a person or an earlier run. */
  content: string;
  /** The tools it is about; an empty list means any tool. */
  tools: string[];
  /** The fingerprint of the failure it was learnt from; null for an imported lesson. */
  fingerprint: string | null;
  /** Absent for a lesson that a person pinned: it is always shown and not on trial. */
  trial?: LessonTrial;
  /** True if it was recalled for an error in other words, and not for exactly the same failure. */
  similar?: true;
}

/** How far the trial of a lesson is when a run reads it. */
export interface LessonTrial {
  status: 'candidate' | 'proven';
  /** The part of the trial that an observation counts for. A verdict, an edit or a restore begins a new one. */
  phase: string;
}

/** How the step went that a lesson speaks about. */
export interface LessonOutcome {
  first_ok: boolean;
  attempts: number;
  /** The failure that the lesson was learnt from happened again. */
  same_again: boolean;
}

/** A search for lessons about a failure, made once per fingerprint. */
export interface RecallQuery {
  run_id: string;
  agent: string;
  /** Null for a run without a tenant. Absent in a query of an older build. */
  tenant?: string | null;
  scope: 'agent' | 'global';
  error_type: string;
  fingerprint: string;
  /** The tool that failed, and the message of the error. Absent in a query of an older build. */
  tool_name?: string | null;
  error_text?: string;
  /** The failure in one line, in the words with which a lesson about it begins. */
  description: string;
  similarity_threshold: number;
  /** The schema of the tool that failed. Lessons that were learnt under another one are left out. */
  tool_schemas?: ToolSchemas;
}

export type PlainValue = string | number | boolean | null;

/** An argument that had another value in the attempt that worked. */
export interface ChangedArgument {
  name: string;
  value: PlainValue;
  /** Absent if the failed call did not have the argument, or if the value is not told. */
  before?: PlainValue;
}

/** What was different when it worked, in parts. The store makes the text from it once it knows what may be told. */
export interface LessonRemedy {
  /** The failure, in the words with which the lesson begins. */
  failure: string;
  differences: ('tool' | 'arguments' | 'constraints' | 'prompt' | 'reported')[];
  tool_name: string;
  /** Changed arguments whose values the error or the tool's schema explains. */
  told: ChangedArgument[];
  /** Changed arguments whose values nothing explains. They are told once enough different runs agree on them. */
  unexplained: ChangedArgument[];
  constraints: { max_output_bytes?: number; timeout_ms?: number; page_size?: number };
  reported: string | null;
  /** Earlier outputs of the run that its state no longer has, by artifact id. Their values are not told either. */
  earlier_outputs: string[];
  /** Of the goal and the input, so that the store can count runs that differ in both. The input may be absent. */
  goal_hash: string;
  input_hash: string | null;
}

/** The hash of the input and output schema of each tool, by its name. */
export type ToolSchemas = Record<string, string>;

/** A lesson that a run has learnt: a failure, and what was different when the retry worked. */
export interface LearntLesson {
  /** Derived from run, step and attempt, so that a repeated write counts as one occurrence. */
  occurrence_id: string;
  scope: 'agent' | 'global';
  error_type: string;
  fingerprint: string;
  /** The message and the code of the failure, by which the lesson is found. Absent in lessons of an older build. */
  error_text?: string;
  error_code?: string;
  /** Null if there is nothing to tell before further runs agree on a value. */
  content: string | null;
  context: string;
  query: string;
  iteration: number;
  quality_delta: number;
  tools: string[];
  /** The schemas of these tools. A lesson is superseded when one of them changes. Absent in lessons of an older build. */
  tool_schemas?: ToolSchemas;
  similarity_threshold: number;
  /** Absent in lessons of an older build. */
  remedy?: LessonRemedy;
}

/** A lesson was shown before an attempt, or is on trial in a run; records whether that attempt succeeded. */
export interface LessonUse {
  use_id: string;
  reflection_id: number;
  run_id: string;
  succeeded: boolean;
  /** Set for the one observation that a run gives to the trial of a lesson. */
  trial?: LessonOutcome & { phase: string; shown: boolean; share_shown: number };
}

export type EnhancementArm = 'enhanced' | 'baseline' | 'off';

/** One step of a tool whose work is checked (`evaluates`), from its first attempt to its last. */
export interface StepEvaluation {
  run_id: string;
  step_id: number;
  agent: string;
  model: string | null;
  subject: string;
  attempts: {
    ok: boolean;
    category: FailureCategory | null;
    wait_ms: number;
    duration_ms: number;
    cost_micro_usd: number;
    /** Artifact id of the difference between the original and the enhanced prompt. */
    prompt_diff: string | null;
  }[];
  /** The time and cost of the run's other work since its previous evaluation, such as generation. Absent in an older build. */
  other_ms?: number;
  other_cost_micro_usd?: number;
  /** Whether the run's retries enhanced prompts, were held out as the baseline, or could not because it was off. */
  arm?: EnhancementArm;
  created_at: string;
}

/** One entry of the feedback log. */
export interface FeedbackEntry {
  entry_id: string;
  run_id: string;
  timestamp: string;
  original_prompt: string;
  feedback_type: string;
  feedback_signal: string;
  actions_applied: string[];
  refined_prompt: string;
  iteration: number;
  /** For feedback of a person, whether the prompt reached the target score; for a tool's output, whether the attempt succeeded. */
  success: boolean;
  /** Where the feedback came from. Absent in entries of an older build, which came from people. */
  source?: FeedbackSource;
  /** The artifacts of both prompts. The store reads the texts from them, so that they do not travel. */
  prompts?: { original_id: string; refined_id: string };
}
export type FeedbackSource = 'person' | 'tool_output';

/** The contribution of earlier runs to a run that starts. A start does not depend on it. */
export interface StartMemory {
  lessons: RunLesson[];
  /** Whether retries enhance prompts. The automatic switch can turn this off for an agent; `why` gives the reason. */
  enhancement: { on: true } | { on: false; why: string };
  /** Counts of bias tags in all other families if the policy counts globally, else null. */
  bias_elsewhere: Record<string, number> | null;
}

export const EMPTY_START_MEMORY: StartMemory = { lessons: [], enhancement: { on: true }, bias_elsewhere: null };
