import { PLANNER } from '../../protocol/names.ts';
import type { RecommendedAdjustment } from '../../protocol/schemas/failure-record.ts';
import { cleanName } from './clean-text.ts';
import type { FoldedFailure } from './folded-failure.ts';

/**
 * Guidance is written from typed fields, with these two tables only. The text of a tool or model is data, not an
 * instruction, so only cleaned names and codes are used, which cannot contain a sentence. The lengths below keep every
 * row under 200 characters, the smallest cap that a policy can set.
 */
const TOOL_CHARS = 40;
const CODE_CHARS = 30;
const PATH_CHARS = 24;
const SHOWN_PATHS = 3;

const tool = (name: string | null): string => (name ? cleanName(name, TOOL_CHARS) : 'the plan');
const code = (text: string): string => cleanName(text, CODE_CHARS);
const path = (text: string): string => text.slice(0, PATH_CHARS).replace(/[^A-Za-z0-9_.$/[\]-]/g, '_');
const named = (paths: readonly string[]): string => paths.slice(0, SHOWN_PATHS).map(path).join(', ');

const describeRepetition = (rule: string | null, name: string): string => {
  switch (rule) {
    case 'same_error':
      return `${name} is to be called with other arguments although its error stays the same`;
    case 'fruitless':
      return `${name} is to search on although the last searches found nothing new`;
    case 'near_repeat':
      return `${name} is to be called again although its answers are nearly the same`;
    case 'long_cycle':
      return `calls such as ${name} are to be made again although their answers did not change`;
    case 'edit_run':
      return `${name} is to run again although its error stayed the same after each change`;
    default:
      return `${name} is to be called again although its answer did not change`;
  }
};

/** Renders a hint about a repetition that is not certain yet. */
export const renderSuspicion = ({ rule, tool_name }: { rule: string; tool_name: string | null }): string =>
  `If ${describeRepetition(rule, tool(tool_name))}, then use another tool or another way.`;

const condition = ({ kind, tool_name, error_code, recommended_adjustment }: FoldedFailure): string => {
  const name = tool(tool_name);
  switch (kind) {
    case 'exception':
      return error_code ? `${name} fails with ${code(error_code)} again` : `${name} fails again`;
    case 'timeout':
      return `${name} runs into its time limit again`;
    case 'pointer_unresolved':
      return `${name} is given a pointer that does not resolve`;
    case 'side_effect_unknown':
      return `it is unknown whether ${name} took effect`;
    case 'empty_result':
      return `${name} finds nothing`;
    case 'low_confidence':
      return `${name} finds only weak evidence`;
    case 'no_evidence':
      return `${name} reports no evidence`;
    case 'schema_violation':
      if (tool_name === PLANNER) return 'your answer does not fit what was asked for';
      return `what goes into or comes out of ${name} does not fit its schema`;
    case 'repair_exhausted':
      if (tool_name === PLANNER) return 'your answer does not fit what was asked for even after repair';
      return `${name} does not fit its schema even after repair`;
    case 'repeated_call':
      return describeRepetition(error_code, name);
    case 'correction':
      return `${name} is used again after a person corrected it`;
    case 'soft_limit':
    case 'near_limit': {
      const budget = recommended_adjustment.type === 'reduce_scope' ? code(recommended_adjustment.budget) : 'run';
      return `the budget ${budget} is ${kind === 'soft_limit' ? 'mostly' : 'almost'} used up`;
    }
    default:
      return kind satisfies never;
  }
};

const advice = (adjustment: RecommendedAdjustment): string => {
  switch (adjustment.type) {
    case 'cap_output':
      return `cap its output at ${adjustment.max_bytes} bytes`;
    case 'set_timeout':
      return `allow it ${adjustment.timeout_ms} ms`;
    case 'paginate':
      return adjustment.argument === undefined
        ? `ask for pages of ${adjustment.page_size}`
        : `ask for pages with ${path(adjustment.argument)} ${adjustment.page_size} or less`;
    case 'change_arguments':
      return adjustment.paths.length > 0 ? `change the arguments ${named(adjustment.paths)}` : 'change its arguments';
    case 'broaden_query':
      return 'broaden the query';
    case 'fix_schema':
      return adjustment.paths.length > 0
        ? `give what the schema asks at ${named(adjustment.paths)}`
        : 'follow the schema';
    case 'use_other_tool':
      return 'use another tool or another way';
    case 'deny':
      return adjustment.host || adjustment.argument
        ? `do not use ${path(adjustment.host ?? adjustment.argument ?? '')} with it`
        : 'do not call it';
    case 'ask_human':
      return 'ask a person before going on';
    case 'reduce_scope':
      return `do less, to save ${code(adjustment.budget)}`;
    default:
      return adjustment satisfies never;
  }
};

/** Renders one row for a tool or a model. */
export const renderGuidance = (failure: FoldedFailure): string =>
  `If ${condition(failure)}, then ${advice(failure.recommended_adjustment)}.`;

const times = (count: number): string => (count === 1 ? '1 time' : `${count} times`);

/** 4 same fingerprint, 3 same tool and code, 2 same tool, 1 same signal type and phase. */
export type Relevance = 1 | 2 | 3 | 4;

const RELATION = {
  4: 'same failure',
  3: 'same tool and error code',
  2: 'same tool',
  1: 'same kind of failure in the same phase',
} as const;

/** Explains why the row was chosen. */
export const explainChoice = (failure: FoldedFailure, relevance: Relevance): string => {
  const { occurrence_count, last_seen_step_id, helpful_count, harmful_count } = failure;
  const helped = helpful_count > 0 ? `, helped ${times(helpful_count)}` : '';
  const harmed = harmful_count > 0 ? `, did not help ${times(harmful_count)}` : '';
  return `${RELATION[relevance]} seen ${times(occurrence_count)}, last at step ${last_seen_step_id}${helped}${harmed}`;
};
