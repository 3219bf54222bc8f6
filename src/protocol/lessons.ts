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
}

/** A search for lessons about a failure, made once per fingerprint. */
export interface RecallQuery {
  run_id: string;
  agent: string;
  scope: 'agent' | 'global';
  error_type: string;
  fingerprint: string;
  /** The failure in one line, in the words with which a lesson about it begins. */
  description: string;
  similarity_threshold: number;
}

/** A lesson that a run has learnt: a failure, and what was different when the retry worked. */
export interface LearntLesson {
  /** Derived from run, step and attempt, so that a repeated write counts as one occurrence. */
  occurrence_id: string;
  scope: 'agent' | 'global';
  error_type: string;
  fingerprint: string;
  content: string;
  context: string;
  query: string;
  iteration: number;
  quality_delta: number;
  tools: string[];
  similarity_threshold: number;
}

/** A lesson was shown before an attempt; records whether that attempt succeeded. */
export interface LessonUse {
  use_id: string;
  reflection_id: number;
  run_id: string;
  succeeded: boolean;
}

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
  success: boolean;
}

/** The contribution of earlier runs to a run that starts. A start does not depend on it. */
export interface StartMemory {
  lessons: RunLesson[];
  /** Whether retries enhance prompts. The automatic switch can turn this off for an agent; `why` gives the reason. */
  enhancement: { on: true } | { on: false; why: string };
  /** Counts of bias tags in all other families if the policy counts globally, else null. */
  bias_elsewhere: Record<string, number> | null;
}

export const EMPTY_START_MEMORY: StartMemory = { lessons: [], enhancement: { on: true }, bias_elsewhere: null };
