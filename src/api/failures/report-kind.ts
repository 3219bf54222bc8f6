import type { OutcomeKind, SignalType } from '../../protocol/schemas/failure-record.ts';

/** What happened, as far as a report from elsewhere tells: its signal, and a code where that says more. */
export function kindOfReport(signal: SignalType, errorCode: string | null): OutcomeKind {
  const code = (errorCode ?? '').toUpperCase();
  switch (signal) {
    case 'tool_error':
      if (code === 'POINTER_UNRESOLVED') return 'pointer_unresolved';
      return /TIMED?_?OUT/.test(code) ? 'timeout' : 'exception';
    case 'retrieval_failure':
      if (code === 'EMPTY_RESULT') return 'empty_result';
      return code === 'LOW_CONFIDENCE' ? 'low_confidence' : 'no_evidence';
    case 'contract_violation':
      return code === 'REPAIR_EXHAUSTED' ? 'repair_exhausted' : 'schema_violation';
    case 'loop_stall':
      return 'repeated_call';
    case 'human_correction':
      return 'correction';
    case 'budget_pressure':
      return code.endsWith('NEAR') ? 'near_limit' : 'soft_limit';
  }
}
