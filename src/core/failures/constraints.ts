import type { ConstraintOrigin, Constraints } from '../../protocol/tools.ts';
import type { FailureMemory, FoldedFailure } from './folded-failure.ts';

/**
 * The constraints that follow from a tool's failures; the run enforces them. A resolved failure still counts, because
 * its constraint may be what resolved it. A superseded one does not, because it is about an old version of the tool.
 * Null if none follows.
 */
export function deriveConstraints(memory: FailureMemory, toolName: string): Constraints | null {
  const constraints: Constraints = {};
  const origins: ConstraintOrigin[] = [];
  for (const failure of memory.by_fingerprint) {
    const { recommended_adjustment: advice, status } = failure;
    if (status === 'superseded' || !('tool_name' in advice) || advice.tool_name !== toolName) continue;
    const constraint = tighten(constraints, failure);
    if (constraint === null) continue;
    origins.push({ constraint, failure_id: failure.last_failure_id, fingerprint: failure.fingerprint });
  }
  return origins.length === 0 ? null : { ...constraints, origins };
}

/**
 * Merges a failure into the constraints: the smaller of two caps and the longer of two timeouts applies, and denied
 * values stay denied.
 */
function tighten(constraints: Constraints, failure: FoldedFailure): ConstraintOrigin['constraint'] | null {
  const advice = failure.recommended_adjustment;
  switch (advice.type) {
    case 'cap_output':
      constraints.max_output_bytes = Math.min(constraints.max_output_bytes ?? Infinity, advice.max_bytes);
      return 'max_output_bytes';
    case 'set_timeout':
      constraints.timeout_ms = Math.max(constraints.timeout_ms ?? 0, advice.timeout_ms);
      return 'timeout_ms';
    case 'paginate':
      constraints.page_size = Math.min(constraints.page_size ?? Infinity, advice.page_size);
      return 'page_size';
    case 'deny':
      if (advice.host !== undefined) {
        constraints.denied_hosts = withOne(constraints.denied_hosts, advice.host);
        return 'denied_hosts';
      }
      if (advice.argument === undefined) return null;
      constraints.denied_arguments = withOne(constraints.denied_arguments, advice.argument);
      return 'denied_arguments';
    default:
      return null;
  }
}

const withOne = (list: string[] | undefined, item: string): string[] => [...new Set([...(list ?? []), item])];
