import { defined, isRecord } from '../../protocol/json.ts';
import { DEFAULT_POLICY } from '../../protocol/policy.ts';
import type { Policy, PolicyPatch } from '../../protocol/schemas/policy.ts';

/** Merges patches over the defaults, group by group: the agent's patch first, the run's last. */
export function mergePolicy(...patches: (PolicyPatch | undefined)[]): Policy {
  const merged: Record<string, unknown> = { ...DEFAULT_POLICY };
  for (const patch of patches) {
    for (const [part, value] of Object.entries(patch ?? {})) {
      if (value === undefined) continue;
      merged[part] = isRecord(value) ? { ...(merged[part] as object), ...defined(value) } : value;
    }
  }
  return merged as Policy;
}
