import type { FailureCategory } from './failure-categories.ts';

/** A lesson as a run carries it: read before the workflow starts, or recalled at the first failure of a kind. */
export interface RunLesson {
  reflection_id: number;
  /** What went wrong and what worked, as a person or an earlier run left it. */
  content: string;
  /** The tools that it concerns; none: any. */
  tools: string[];
  /** Of the failure it was learnt from; null for a lesson that came from outside. */
  fingerprint: string | null;
}

/** "Have I seen this error before?", asked once per fingerprint. */
export interface RecallQuery {
  run_id: string;
  agent: string;
  scope: 'agent' | 'global';
  error_type: string;
  fingerprint: string;
  /** The failure in one line, as a lesson about it would begin. */
  description: string;
  similarity_threshold: number;
}

/** What a run learnt: a failure, and what was done differently and did better. */
export interface LearntLesson {
  /** Derived from run, step and attempt: a repeated write is one occurrence. */
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

/** A lesson was shown before an attempt: did the attempt succeed? */
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

/** One entry of the feedback log, in the seed's shape. */
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

/** What the memory beyond runs has to say when a run starts; nothing of it can hold up a start. */
export interface StartMemory {
  lessons: RunLesson[];
  /** Off: the automatic switch has turned prompt enhancement off for this agent, and why. */
  enhancement: { on: true } | { on: false; why: string };
  /** Counts of bias tags in all other families, for a policy that counts globally; null otherwise. */
  bias_elsewhere: Record<string, number> | null;
}

export const NOTHING_REMEMBERED: StartMemory = { lessons: [], enhancement: { on: true }, bias_elsewhere: null };
