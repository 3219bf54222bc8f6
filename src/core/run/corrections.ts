import { CAP } from '../../protocol/caps.ts';
import type { GuidanceRow } from '../../protocol/tools.ts';
import { toWellFormed } from '../../protocol/well-formed-text.ts';
import { cleanName, collapseSpaces } from '../failures/clean-text.ts';
import { quote, quoteExactly } from '../failures/quote.ts';
import { type Step, subjectOf } from './attempts.ts';
import { lastSubject, recordNotice } from './read-failures.ts';
import type { Correction, RunState } from './state.ts';

/** A person's correction: who gave it, and the text. */
export interface GivenCorrection {
  by: string | null;
  text: string | null;
  /** The failure that it is about. */
  fingerprint?: string | undefined;
}

/** Records that a person corrected the step, and keeps the text for the guidance of what follows. */
export function recordCorrection(state: RunState, step: Step, given: GivenCorrection, now: number): void {
  const { tool } = step.call;
  const notice = { signal_type: 'human_correction', kind: 'correction', error_code: 'CORRECTED' } as const;
  const said = asSaid(given);
  const { failure_id, fingerprint } = recordNotice(state, subjectOf(step), { ...notice, tool_name: tool, said }, now);
  const about = `the work of step ${step.step_id} (${cleanName(tool, 40)}) is tried again`;
  keep(state, { ...said, about, tool_name: tool, failure_id, fingerprint, of: given.fingerprint ?? null });
}

/** Records that a person let another pass start. The reason, if one was given, is guidance for that pass. */
export function recordOverride(state: RunState, given: GivenCorrection, now: number): void {
  const notice = { signal_type: 'human_correction', kind: 'correction', error_code: 'OVERRIDDEN' } as const;
  const said = asSaid(given);
  const subject = lastSubject(state);
  // Overrides can follow each other without a step between them, and their ids have to differ.
  const index = state.failures.by_signal['human_correction'] ?? 0;
  const record = recordNotice(state, subject, { ...notice, tool_name: null, said, index, isOverride: true }, now);
  if (said.text === '') return;
  const { failure_id, fingerprint } = record;
  keep(state, { ...said, about: 'this is done in another pass', tool_name: null, failure_id, fingerprint, of: null });
}

const asSaid = ({ by, text }: GivenCorrection): { by: string; text: string } => ({
  by: by ?? 'a person',
  // A lone half of a character cannot be stored, so it would not come back as it went.
  text: toWellFormed(text ?? ''),
});

/** Only the latest corrections are kept, because each may be long and all of them are shown. */
function keep({ people }: RunState, correction: Correction): void {
  people.corrections = [...(people.corrections ?? []), correction].slice(-CAP.corrections);
}

/**
 * The rows of people's corrections, the latest first. They are the first rows of guidance, because they are newer than
 * anything that the run has learnt. A planner sees all of them, a tool those about itself.
 */
export function correctionRows({ people }: RunState, step: Step): GuidanceRow[] {
  const concerning = (people.corrections ?? []).filter(
    ({ tool_name }) => step.kind === 'planner' || tool_name === null || tool_name === step.call.tool,
  );
  return concerning.toReversed().map(({ by, text, about, failure_id, fingerprint }) => {
    const who = collapseSpaces(by).slice(0, CAP.nameChars);
    return {
      fingerprint,
      failure_id,
      relevance: 4,
      why: `${who} corrected this run`,
      text: `If ${about}, then do as ${quote(who, CAP.nameChars)} said:\n${quoteExactly(text)}`,
    };
  });
}

/** The failure that the latest correction is about, until a step succeeds. */
export const correctedFailure = ({ people }: RunState): string | null => people.corrections?.at(-1)?.of ?? null;

/** A step has succeeded, so guidance is no longer about the failures that people corrected. */
export function closeCorrections({ people }: RunState): void {
  if (people.corrections?.some(({ of }) => of !== null)) {
    people.corrections = people.corrections.map((correction) => ({ ...correction, of: null }));
  }
}
