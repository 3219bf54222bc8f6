/** The lesson that was learnt from a failure, and how often the failure happened in a run before and after it. */
export interface LessonOfFailure {
  id: number;
  content: string;
  learnt_at: string;
  /** Occurrences per run that met the failure. Null if no run met it on that side. */
  per_run_before: number | null;
  per_run_after: number | null;
  runs_before: number;
  runs_after: number;
}

/** All failures with one fingerprint, over all runs. */
export interface KnownFailure {
  fingerprint: string;
  signal_type: string;
  tool_name: string | null;
  error_code: string | null;
  message_preview: string | null;
  occurrence_count: number;
  run_count: number;
  agents: string[];
  first_seen: string;
  last_seen: string;
  /** `active` if it is active in at least one run. */
  status: 'active' | 'resolved';
  /** Occurrences per UTC day, only of days that had any. */
  days: { day: string; occurrence_count: number }[];
  lesson: LessonOfFailure | null;
}
