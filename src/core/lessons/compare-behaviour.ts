import { canonicalJson } from '../../protocol/ids.ts';
import { compareDecimals, decimal } from '../guardrails/decimal.ts';
import { trimWhiteSpace } from './unicode-text.ts';

/** One attempt and how it ended, with the fields that can be compared with another attempt. */
export interface AttemptInAction {
  tool_name: string;
  input_hash: string;
  /** The constraints that applied to it; compared as canonical JSON. */
  constraints?: unknown;
  prompt_hash?: string | null;
  /** The changes that the tool reported with `ctx.changed(text)`. */
  reported_changes?: readonly string[];
  succeeded: boolean;
  /** A quality score, if there is one. It decides between two attempts that both succeeded or both failed. */
  quality?: number | null;
}

export type ActionDifference = 'tool' | 'arguments' | 'constraints' | 'prompt' | 'reported';

export interface BehaviourChange {
  /** Only lessons for which this is true are kept. */
  changed_behavior: boolean;
  differences: ActionDifference[];
  did_better: boolean;
}

/**
 * Decides whether the second attempt did something different and had a better result. Repeating the same call with luck
 * teaches nothing, and neither does a change that did not help.
 */
export function compareBehaviour(before: AttemptInAction, after: AttemptInAction): BehaviourChange {
  const differences = differencesInAction(before, after);
  const better = didBetter(before, after);
  return { changed_behavior: differences.length > 0 && better, differences, did_better: better };
}

function differencesInAction(before: AttemptInAction, after: AttemptInAction): ActionDifference[] {
  const differences: ActionDifference[] = [];
  if (before.tool_name !== after.tool_name) differences.push('tool');
  if (before.input_hash !== after.input_hash) differences.push('arguments');
  if (canonicalJson(before.constraints) !== canonicalJson(after.constraints)) differences.push('constraints');
  if ((before.prompt_hash ?? null) !== (after.prompt_hash ?? null)) differences.push('prompt');
  if (reportedAnew(before, after)) differences.push('reported');
  return differences;
}

/** A tool that reports the same change in both attempts has not changed between them. */
function reportedAnew(before: AttemptInAction, after: AttemptInAction): boolean {
  const known = new Set((before.reported_changes ?? []).map(trimWhiteSpace));
  return (after.reported_changes ?? []).map(trimWhiteSpace).some((text) => text !== '' && !known.has(text));
}

function didBetter(before: AttemptInAction, after: AttemptInAction): boolean {
  if (before.succeeded !== after.succeeded) return after.succeeded;
  const { quality: was } = before;
  const { quality: is } = after;
  if (was === null || was === undefined || is === null || is === undefined) return false;
  return compareDecimals(decimal(is), decimal(was)) > 0;
}
