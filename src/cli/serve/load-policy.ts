import { readFile } from 'node:fs/promises';
import { checkGuardPolicy, mergeGuardPolicy, type GuardPolicyPatch } from '../../core/guardrails/guard-policy.ts';
import type { GuardPolicy } from '../../core/guardrails/guard-state.ts';
import { DEFAULT_POLICY } from '../../protocol/policy.ts';
import { ConfigError } from '../config/config-error.ts';

const NEXT = 'SECONDWIND_POLICY must name a JSON file with settings for loops that run elsewhere. Correct or unset it.';

/** Reads the policy for loops that run elsewhere from the file that SECONDWIND_POLICY names; undefined if the setting is not set. */
export async function loadGuardPolicy(file: string | undefined): Promise<GuardPolicy | undefined> {
  if (file === undefined) return undefined;
  const patch = await readJsonFile(file);
  const problems = checkGuardPolicy(patch, '$').map(({ path, message }) => `${path}: ${message}`);
  if (problems.length > 0) throw new ConfigError(`The policy in ${file} is invalid: ${problems.join('; ')}`, NEXT);
  return mergeGuardPolicy(DEFAULT_POLICY, patch as GuardPolicyPatch);
}

async function readJsonFile(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    const why = error instanceof Error ? error.message.slice(0, 300) : String(error);
    throw new ConfigError(`The policy ${file} cannot be read: ${why}`, NEXT);
  }
}
