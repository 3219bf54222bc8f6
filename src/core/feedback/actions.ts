import { quote } from '../failures/quote.ts';
import { toOneLine } from './scanned-text.ts';
import type { Detection, FeedbackContext, FeedbackType } from './types.ts';

export type ActionType =
  | 'add_context'
  | 'add_constraint'
  | 'request_approach'
  | 'add_test_context'
  | 'specify_behavior'
  | 'request_validation'
  | 'request_clarification'
  | 'narrow_scope'
  | 'offer_alternatives'
  | 'focus_on_gap'
  | 'add_targeted_constraint'
  | 'request_incremental_fix';

export type RefinementAction = { type: ActionType; text: string };

type Slots = Record<string, string | undefined>;
type Template = { type: ActionType; template: string };

/**
 * The actions that each type adds to the next prompt, in priority order. A template has one line, because an action
 * that was already applied is recognized by its line.
 */
const TEMPLATES: Record<FeedbackType, Template[]> = {
  runtime_error: [
    { type: 'add_context', template: 'The last attempt stopped with this error: {error_message}' },
    { type: 'add_constraint', template: 'The result must run under {framework}.' },
    { type: 'request_approach', template: 'Work in small steps and check each change before making the next one.' },
  ],
  verification_failure: [
    { type: 'add_test_context', template: 'The result must pass this check, which it failed: {check}' },
    { type: 'specify_behavior', template: 'Expected behaviour: {behaviour}' },
    { type: 'request_validation', template: 'Finish by running the failed check again and say what it reported.' },
  ],
  user_rejection: [
    { type: 'request_clarification', template: 'The last result was rejected with these words: "{remark}"' },
    { type: 'narrow_scope', template: 'Keep to exactly this: {requested_change}' },
    { type: 'offer_alternatives', template: 'Consider this other way first: {alternatives}' },
  ],
  partial_success: [
    { type: 'focus_on_gap', template: 'Most of the last result was right; what is left: {gap}' },
    { type: 'add_targeted_constraint', template: 'This must hold as well: {requested_change}' },
    { type: 'request_incremental_fix', template: 'Keep everything else as it is and change only what concerns: {gap}' },
  ],
};

const SLOT = /\{(\w{1,40})\}/g;

/**
 * Fills all slots in one pass, so that braces inside a value are not taken for a slot. Returns null if a slot has no
 * value.
 */
function fill(template: string, slots: Slots): string | null {
  let unknown = false;
  const text = template.replace(SLOT, (_whole, name: string) => {
    const value = slots[name];
    if (value === undefined || value === '') unknown = true;
    return value ?? '';
  });
  return unknown ? null : text;
}

/** A runner, a server or a tool wrote these words, so they stand in the prompt as a quote. */
const quoted = (text: string | undefined): string | undefined => (text === undefined ? undefined : quote(text, 500));

function collectSlots(context: FeedbackContext): Slots {
  const { expected, actual, test_name, error_message, remark, requested_change } = context;
  const behaviour =
    expected === undefined
      ? undefined
      : actual === undefined
        ? expected
        : `${expected} (the last attempt gave ${actual})`;
  return {
    error_message: quoted(error_message),
    framework: context.framework,
    check: quoted(test_name ?? error_message),
    behaviour: quoted(behaviour),
    remark: remark?.replaceAll('"', "'"),
    requested_change,
    alternatives: context.alternatives,
    gap: requested_change ?? remark,
  };
}

/** The actions of the detected type whose slots can all be filled; none if nothing was detected. */
export function selectActions(detection: Detection): RefinementAction[] {
  if (detection.feedback_type === null) return [];
  const slots = collectSlots(detection.context);
  const actions: RefinementAction[] = [];
  for (const { type, template } of TEMPLATES[detection.feedback_type]) {
    const text = fill(template, slots);
    if (text !== null) actions.push({ type, text: toOneLine(text, 1_000) });
  }
  return actions;
}

/** Appends the action as a line of its own. A prompt that already has this line is returned unchanged. */
export function applyAction(prompt: string, action: RefinementAction): string {
  if (prompt.split('\n').includes(action.text)) return prompt;
  return prompt === '' || prompt.endsWith('\n') ? prompt + action.text : `${prompt}\n${action.text}`;
}
