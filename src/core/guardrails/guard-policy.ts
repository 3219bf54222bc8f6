import { CAP } from '../../protocol/caps.ts';
import { isRecord } from '../../protocol/json.ts';
import type { RequestProblem } from '../../protocol/run.ts';
import type { PolicyPatch } from '../../protocol/schemas/policy.ts';
import { checkPolicy } from '../policy/check-policy.ts';
import { mergePolicy } from '../policy/merge-policy.ts';
import { type GuardPolicy, pickGuardPolicy } from './guard-state.ts';

/** The settings of a policy that apply to passes which run elsewhere. */
export type GuardPolicyPatch = Pick<PolicyPatch, keyof GuardPolicy>;
const GUARD_PARTS: readonly string[] = ['mode', 'reruns', 'fatigue', 'bias', 'humans'] satisfies (keyof GuardPolicy)[];

/** The body of a message that sets the policy of a family before its first report. */
export interface PolicyMessage {
  policy: GuardPolicyPatch;
  by: string;
}

/** The policy of a family: who set it and when, and whether the first report has fixed it. */
export interface FamilyPolicy {
  policy: GuardPolicy;
  set_by: string | null;
  set_at: string | null;
  fixed: boolean;
}

/** Checks a part of a policy for passes that run elsewhere, as every policy is checked. Other parts would have no effect. */
export function checkGuardPolicy(patch: unknown, root = '$.policy'): RequestProblem[] {
  const problems = checkPolicy(patch, root);
  if (!isRecord(patch)) return problems;
  const without = Object.keys(patch).filter((part) => !GUARD_PARTS.includes(part));
  const message = `has no effect on loops that run elsewhere; use ${GUARD_PARTS.join(', ')}`;
  const paths = without.map((part) => `${root}.${part}`);
  const isWithout = ({ path }: RequestProblem): boolean =>
    paths.some((own) => path === own || path.startsWith(`${own}.`));
  return [...problems.filter((problem) => !isWithout(problem)), ...paths.map((path) => ({ path, message }))];
}

export function checkPolicyMessage(body: unknown): RequestProblem[] {
  if (!isRecord(body)) return [{ path: '$', message: 'expected an object' }];
  const { policy, by } = body;
  const isName = typeof by === 'string' && by.trim() !== '' && by.length <= CAP.nameChars;
  return [
    ...(policy === undefined ? [{ path: '$.policy', message: 'required' }] : checkGuardPolicy(policy)),
    ...(isName ? [] : [{ path: '$.by', message: `expected a text of 1 to ${CAP.nameChars} characters: who sets it` }]),
  ];
}

export const mergeGuardPolicy = (policy: GuardPolicy, patch: GuardPolicyPatch | undefined): GuardPolicy =>
  patch === undefined ? policy : pickGuardPolicy(mergePolicy(policy, patch));

/** True if a patch says nothing else than the policy that a family has already. */
export function isSamePolicy(policy: GuardPolicy, patch: GuardPolicyPatch): boolean {
  return JSON.stringify(mergeGuardPolicy(policy, patch)) === JSON.stringify(mergeGuardPolicy(policy, {}));
}
