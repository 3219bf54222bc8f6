import type { GuardPolicy } from '../core/guardrails/guard-state.ts';
import type { InputError } from '../core/guardrails/refusal.ts';
import { mergePolicy } from '../core/policy/merge-policy.ts';
import { DEFAULT_POLICY } from '../protocol/policy.ts';
import type { LoopGuardInput } from '../core/guardrails/loop-guard.ts';

const PARTS = ['reruns', 'fatigue', 'bias', 'humans'] as const;
/** A family's state keeps every loop and override, so their number has the policy's own cap. */
const MAX_COUNT = 100;
const COUNTS = new Set(['reruns.max_reruns', 'humans.max_overrides', 'bias.repetition_threshold']);
const WORDS: Record<string, readonly string[]> = {
  mode: ['enforce', 'guide', 'observe'],
  'bias.scope': ['family', 'global'],
};

export const policyOfGuard = ({ policy, max_reruns }: LoopGuardInput): GuardPolicy => {
  const merged = mergePolicy(policy, max_reruns === undefined ? {} : { reruns: { max_reruns } });
  const { mode, reruns, fatigue, bias, humans } = merged;
  return { mode, reruns, fatigue, bias, humans };
};

/** A guard can be started past our doors; a number that is none would let every loop through, or none. */
export function errorsOfGuardPolicy(policy: GuardPolicy): InputError[] {
  const errors = misfit('mode', policy.mode, DEFAULT_POLICY.mode);
  for (const part of PARTS) {
    const given: unknown = policy[part];
    const members = Object.entries(DEFAULT_POLICY[part]) as [string, unknown][];
    if (typeof given !== 'object' || given === null) errors.push({ path: `$.policy.${part}`, detail: 'an object' });
    else {
      const values = given as Record<string, unknown>;
      for (const [key, normal] of members) errors.push(...misfit(`${part}.${key}`, values[key], normal));
    }
  }
  return errors;
}

function misfit(name: string, value: unknown, normal: unknown): InputError[] {
  const detail = expectation(name, value, normal);
  return detail === null ? [] : [{ path: `$.policy.${name}`, detail }];
}

function expectation(name: string, value: unknown, normal: unknown): string | null {
  const words = WORDS[name];
  if (words !== undefined) return words.includes(value as string) ? null : `one of ${words.join(', ')}`;
  if (COUNTS.has(name)) {
    const fits = Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MAX_COUNT;
    return fits ? null : `a whole number from 0 to ${MAX_COUNT}`;
  }
  if (typeof normal === 'number') return Number.isFinite(value) && Number(value) >= 0 ? null : 'a number from 0';
  return Array.isArray(normal) === Array.isArray(value) && typeof value === typeof normal
    ? null
    : `of the type of its default, ${JSON.stringify(normal)}`;
}
