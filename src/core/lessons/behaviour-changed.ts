import { canonicalJson } from '../../protocol/ids.ts';
import { compareDecimals, decimal } from '../guardrails/decimal.ts';
import { trimWhiteSpace } from './text.ts';

/** What one attempt did, as far as another can differ from it, and how it went. */
export interface AttemptInAction {
  tool_name: string;
  input_hash: string;
  /** The constraints that held for it; compared as canonical JSON. */
  constraints?: unknown;
  prompt_hash?: string | null;
  /** What the tool itself reported by `ctx.changed(text)`. */
  reported_changes?: readonly string[];
  succeeded: boolean;
  /** Where there is a score; it decides between two attempts that both succeeded, or both failed. */
  quality?: number | null;
}

export type ActionDifference = 'tool' | 'arguments' | 'constraints' | 'prompt' | 'reported';

export interface BehaviourChange {
  /** The gate: only a reflection of which this is true is kept. */
  changed_behavior: boolean;
  differences: ActionDifference[];
  did_better: boolean;
}

/** Doing the same again and being lucky teaches nothing; neither does doing otherwise to no avail. */
export function behaviourChanged(before: AttemptInAction, after: AttemptInAction): BehaviourChange {
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

/** A tool that reports the same change at every attempt has not changed between them. */
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
