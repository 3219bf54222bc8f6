import { isId } from '../../protocol/ids.ts';
import { CAP } from '../../protocol/caps.ts';
import { OVERRIDE_FIELDS_OF_REPORT, checkFields } from '../../protocol/messages.ts';
import { POLICY_TABLE } from '../../protocol/policy-table.ts';
import type { RequestProblem } from '../../protocol/run.ts';
import { checkSetting } from '../policy/check-policy.ts';
import { checkGuardPolicy, type GuardPolicyPatch } from './guard-policy.ts';
import type { BiasTag } from './bias-echo.ts';

/** A reviewer's judgement of a finished loop. */
export interface ReviewReport {
  alignment_score: number;
  drift_score: number;
  summary_valid?: boolean;
  reflection_persona?: string | null;
  bias_tags?: BiasTag[];
  /** Items that the pass missed or got wrong, as text for the next pass. It does not affect the decision. */
  missed?: string[];
}

/** The body of loop-complete. */
export interface LoopReport {
  loop_id: string;
  reflection_status: string;
  orchestrator_persona?: string | null;
  override_fatigue?: boolean;
  override_max_reruns?: boolean;
  override_by?: string | null;
  override_reason?: string | null;
  max_reruns?: number;
  /** Only in the first report of a family, which fixes it. */
  policy?: GuardPolicyPatch;
  reflection_result?: ReviewReport;
}

/** The number of biases per review is capped, because the family's state keeps each. */
const MAX_BIAS_TAGS = 50;
/** A report may ask for at most as many reruns as a policy. */
const MAX_RERUNS = POLICY_TABLE.reruns.settings.max_reruns;
const MAX_MISSED = 10;

type Fields = Record<string, unknown>;
type Rule = [path: string, holds: boolean, message: string];

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isAbsent = (value: unknown): value is null | undefined => value === undefined || value === null;
const isName = (value: unknown): boolean =>
  typeof value === 'string' && value.trim() !== '' && value.length <= CAP.nameChars;
const isNameOrAbsent = (value: unknown): boolean => isAbsent(value) || isName(value);
const isFlag = (value: unknown): boolean => value === undefined || typeof value === 'boolean';
const isScore = (value: unknown): boolean => typeof value === 'number' && value >= 0 && value <= 1;

const broken = (rules: Rule[]): RequestProblem[] =>
  rules.filter(([, holds]) => !holds).map(([path, , message]) => ({ path, message }));

const NAME = `expected a text of 1 to ${CAP.nameChars} characters, or null`;
const FLAG = 'expected true or false';
const SCORE = 'expected a number from 0 to 1';

/**
 * Checks a report and returns its problems. It does not use zod, because workflows call it for messages that arrive
 * directly, and they must not load zod.
 */
export function checkReport(body: unknown): RequestProblem[] {
  if (!isObject(body)) return [{ path: '$', message: 'expected an object' }];
  const flagged = body['override_fatigue'] === true || body['override_max_reruns'] === true;
  const errors = broken([
    ['$.loop_id', isId(body['loop_id']), 'expected an id: letters, digits and ._:- up to 128 characters'],
    [
      '$.reflection_status',
      body['reflection_status'] === 'done',
      'expected "done"; report the loop once its review is done',
    ],
    ['$.orchestrator_persona', isNameOrAbsent(body['orchestrator_persona']), NAME],
    ['$.override_by', !flagged || !isAbsent(body['override_by']), 'required with an override flag: say who overrides'],
  ]);
  const { max_reruns: maxReruns, reflection_result: review } = body;
  return [
    ...errors,
    ...checkFields(OVERRIDE_FIELDS_OF_REPORT, body),
    ...(maxReruns === undefined ? [] : checkSetting(MAX_RERUNS, maxReruns, '$.max_reruns')),
    ...checkGuardPolicy(body['policy']),
    ...(review === undefined ? [] : checkReview(review, '$.reflection_result')),
  ];
}

export function checkReview(review: unknown, path = '$'): RequestProblem[] {
  if (!isObject(review)) return [{ path, message: 'expected an object' }];
  const tags = review['bias_tags'];
  return broken([
    [`${path}.alignment_score`, isScore(review['alignment_score']), SCORE],
    [`${path}.drift_score`, isScore(review['drift_score']), SCORE],
    [`${path}.summary_valid`, isFlag(review['summary_valid']), FLAG],
    [`${path}.reflection_persona`, isNameOrAbsent(review['reflection_persona']), NAME],
    [
      `${path}.missed`,
      review['missed'] === undefined || areMissed(review['missed']),
      `expected at most ${MAX_MISSED} texts of ${CAP.messagePreviewChars} characters`,
    ],
    [
      `${path}.bias_tags`,
      tags === undefined || areTags(tags),
      `expected at most ${MAX_BIAS_TAGS} texts or objects with a tag`,
    ],
  ]);
}

const areTags = (tags: unknown): boolean =>
  Array.isArray(tags) &&
  tags.length <= MAX_BIAS_TAGS &&
  tags.every((entry: unknown) => isTag(isObject(entry) ? entry['tag'] : entry));

const areMissed = (missed: unknown): boolean =>
  Array.isArray(missed) &&
  missed.length <= MAX_MISSED &&
  missed.every((text: unknown) => typeof text === 'string' && text.length <= CAP.messagePreviewChars);

const isTag = (tag: unknown): boolean => typeof tag === 'string' && tag.length <= CAP.nameChars;
