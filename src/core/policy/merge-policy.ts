import { isRecord } from '../../protocol/json.ts';
import { DEFAULT_POLICY } from '../../protocol/policy.ts';
import type { Policy, PolicyPatch } from '../../protocol/schemas/policy.ts';

/** Merges patches over the defaults, group by group: the agent's patch first, the run's last. */
export function mergePolicy(...patches: (PolicyPatch | undefined)[]): Policy {
  const merged: Record<string, unknown> = { ...DEFAULT_POLICY };
  for (const patch of patches) {
    for (const [part, value] of Object.entries(patch ?? {})) {
      if (value === undefined) continue;
      merged[part] = isRecord(value) ? mergeGroup(merged[part] as Record<string, unknown>, value) : value;
    }
  }
  return merged as Policy;
}

function mergeGroup(group: Record<string, unknown>, patch: Record<string, unknown>): Record<string, unknown> {
  const merged = { ...group };
  for (const key of Object.keys(patch)) if (patch[key] !== undefined) merged[key] = patch[key];
  return merged;
}
