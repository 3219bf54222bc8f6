/** The types of feedback (S3), in tie order: the more specific type comes first. */
export const FEEDBACK_TYPES = ['verification_failure', 'runtime_error', 'partial_success', 'user_rejection'] as const;
export type FeedbackType = (typeof FEEDBACK_TYPES)[number];

/** `pattern` is the name of the family that matched, one of the three of its type. */
export type FeedbackMatch = { feedback_type: FeedbackType; pattern: string; text: string };

/** Details that the text contains beside its type. Every value is one short, clean line. */
export type FeedbackContext = {
  error_message?: string;
  exception_type?: string;
  exit_code?: number;
  stack_trace?: boolean;
  test_name?: string;
  expected?: string;
  actual?: string;
  framework?: string;
  /** The person's own words, for a rejection or a partial success. */
  remark?: string;
  /** The change that the person wants: the part after "I meant", "I want", "but", "except for" and similar words. */
  requested_change?: string;
  /** Alternatives that the person named: "use Postgres", "try a table instead". */
  alternatives?: string;
};

export type Detection = {
  feedback_type: FeedbackType | null;
  /** 0 if nothing was detected, otherwise 0.5 to 1 in steps of 0.1. */
  confidence: number;
  matches: FeedbackMatch[];
  context: FeedbackContext;
};
