import type { FailureCategory } from '../../protocol/failure-categories.ts';
import type { OutcomeKind, RecommendedAdjustment, SignalType } from '../../protocol/schemas/failure-record.ts';

const DEFAULT_TIMEOUT_MS = 30_000;
const LONGEST_TIMEOUT_MS = 600_000;
const DEFAULT_MAX_BYTES = 64 * 1024;
const DEFAULT_PAGE_SIZE = 50;
const MAX_PATHS = 10;
const PATH_CHARS = 120;
const ARGUMENT_CHARS = 100;
/** Used if a failure has no tool, such as an invalid plan or message of a model. */
const NO_TOOL = 'plan';

/** Error codes that the runtime assigns when an output was cut or refused because of its size. */
const TOO_LARGE = ['OUTPUT_TOO_LARGE', 'RESPONSE_TOO_LARGE', 'PAYLOAD_TOO_LARGE', 'HTTP_413'];

/** The facts about a failed attempt when its record is made. */
export interface AdjustmentInput {
  signal_type: SignalType;
  kind: OutcomeKind;
  category?: FailureCategory | undefined;
  tool_name: string | null;
  error_code?: string | null | undefined;
  /** The timeout of the attempt, and the longest timeout that the tool's manifest allows. */
  timeout_ms?: number | undefined;
  max_timeout_ms?: number | undefined;
  /** The cap that the output exceeded. */
  max_bytes?: number | undefined;
  /** Set if an argument of the tool says how many items it returns. `size` is what the call asked for, if it is known. */
  page?: { argument: string; size?: number } | undefined;
  /** JSON paths of the values that a schema refused. */
  paths?: readonly string[] | undefined;
  /** Which budget is under pressure. */
  budget?: string | undefined;
  /**
   * Arguments or hosts that a person or the tool's own policy ruled out. Only these lead to a `deny`, because it is
   * enforced and must not be a guess.
   */
  denied?: { argument?: string; host?: string } | undefined;
}

const capPaths = (paths: readonly string[] | undefined): string[] =>
  (paths ?? []).slice(0, MAX_PATHS).map((path) => path.slice(0, PATH_CHARS));

const longerTimeout = (seen: AdjustmentInput, tool_name: string): RecommendedAdjustment => {
  const now = seen.timeout_ms ?? DEFAULT_TIMEOUT_MS;
  const longest = seen.max_timeout_ms ?? Math.max(LONGEST_TIMEOUT_MS, now);
  const timeout_ms = Math.min(Math.ceil(now * 2), longest);
  // The timeout is already the longest that is allowed, so the advice is to do less work per call.
  return timeout_ms > now
    ? { type: 'set_timeout', tool_name, timeout_ms }
    : { type: 'reduce_scope', budget: 'seconds' };
};

const lessOutput = (seen: AdjustmentInput, tool_name: string): RecommendedAdjustment => {
  const { page } = seen;
  const size = page?.size ?? 2 * DEFAULT_PAGE_SIZE;
  // A page of one item cannot become smaller.
  if (page === undefined || size < 2)
    return { type: 'cap_output', tool_name, max_bytes: seen.max_bytes ?? DEFAULT_MAX_BYTES };
  const argument = page.argument.slice(0, ARGUMENT_CHARS);
  return { type: 'paginate', tool_name, page_size: Math.floor(size / 2), argument };
};

const byCategory = (seen: AdjustmentInput, tool_name: string): RecommendedAdjustment => {
  const paths = capPaths(seen.paths);
  const category = seen.category ?? 'unknown_error';
  switch (category) {
    case 'timeout':
      return longerTimeout(seen, tool_name);
    case 'auth':
      return { type: 'ask_human', reason: 'credentials were refused' };
    case 'quota':
      return { type: 'ask_human', reason: 'a quota is used up' };
    case 'rate_limit':
      return { type: 'reduce_scope', budget: 'requests' };
    case 'context_length':
      return { type: 'reduce_scope', budget: 'tokens' };
    // Backoff is automatic. The only advice left is to take another approach if the call fails again.
    case 'network':
    case 'server_error':
    case 'not_registered':
    case 'worker_lost':
      return { type: 'use_other_tool', tool_name };
    case 'validation_grounding':
      return { type: 'fix_schema', tool_name, paths: ['grounding'] };
    case 'validation_reasoning':
      return { type: 'fix_schema', tool_name, paths: ['reasoning'] };
    case 'validation_both':
    case 'validation_unknown':
      return { type: 'fix_schema', tool_name, paths: ['grounding', 'reasoning'] };
    case 'contract_violation':
      return { type: 'fix_schema', tool_name, paths };
    case 'retrieval_failure':
      return { type: 'broaden_query', tool_name };
    case 'invalid_input':
    case 'content_filter':
    case 'pointer_unresolved':
    case 'unknown_error':
      return { type: 'change_arguments', tool_name, paths };
    default:
      return category satisfies never;
  }
};

/**
 * Decides what to do differently after a failure. The runtime derives it from the outcome, never a model, so the same
 * outcome always gives the same adjustment. The outcome's kind takes precedence over the category of an exception.
 */
export const recommendAdjustment = (seen: AdjustmentInput): RecommendedAdjustment => {
  const tool_name = seen.tool_name ?? NO_TOOL;
  if (seen.denied) return { type: 'deny', tool_name, ...seen.denied };
  switch (seen.kind) {
    case 'timeout':
      return longerTimeout(seen, tool_name);
    case 'side_effect_unknown':
      return { type: 'ask_human', reason: 'it is unknown whether the call took effect' };
    case 'empty_result':
    case 'low_confidence':
    case 'no_evidence':
      return { type: 'broaden_query', tool_name };
    case 'schema_violation':
      // The caller can change bad arguments; a bad output or plan has to be corrected by its author.
      return seen.category === 'invalid_input'
        ? { type: 'change_arguments', tool_name, paths: capPaths(seen.paths) }
        : byCategory({ ...seen, category: seen.category ?? 'contract_violation' }, tool_name);
    case 'repair_exhausted':
      return { type: 'fix_schema', tool_name, paths: capPaths(seen.paths) };
    case 'repeated_call':
      return { type: 'use_other_tool', tool_name };
    case 'pointer_unresolved':
    case 'correction':
      return { type: 'change_arguments', tool_name, paths: capPaths(seen.paths) };
    case 'soft_limit':
    case 'near_limit':
      return { type: 'reduce_scope', budget: (seen.budget ?? 'run').slice(0, 40) };
    case 'exception':
      return seen.error_code && TOO_LARGE.includes(seen.error_code)
        ? lessOutput(seen, tool_name)
        : byCategory(seen, tool_name);
    default:
      return seen.kind satisfies never;
  }
};
