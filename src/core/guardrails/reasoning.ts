import { defined } from '../../protocol/json.ts';
import type { GuardReason, RerunReasonCode, RerunTrigger } from './decision.ts';

/** Why a loop was run again, as the log keeps it. `overridden_by` is set only if a person lifted a limit. */
export interface RerunReasoning {
  rerun_trigger: RerunTrigger[];
  rerun_reason: RerunReasonCode;
  rerun_reason_detail: string;
  timestamp: string;
  reflection_persona: string | null;
  overridden_by?: string;
}

/** One sentence. It also names guards that only observed, because they are recorded nowhere else. */
export function describeRerun(triggers: readonly RerunTrigger[], observed: readonly GuardReason[] = []): string {
  const triggered = `Triggered by ${triggers.join(', ')}`;
  return observed.length === 0 ? triggered : `${triggered}; only observed: ${observed.join(', ')}`;
}

export function explainRerun(
  rerun: { rerun_trigger: RerunTrigger[]; rerun_reason: RerunReasonCode; rerun_reason_detail?: string | null },
  timestamp: string,
  reflectionPersona: string | null,
  overriddenBy: string | null,
): RerunReasoning {
  return {
    rerun_trigger: rerun.rerun_trigger,
    rerun_reason: rerun.rerun_reason,
    rerun_reason_detail: rerun.rerun_reason_detail || describeRerun(rerun.rerun_trigger),
    timestamp,
    reflection_persona: reflectionPersona,
    ...defined({ overridden_by: overriddenBy ?? undefined }),
  };
}
