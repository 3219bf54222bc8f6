import { PROTOCOL_EXIT } from '../src/core/retry/exit-codes.ts';
import type { Case } from './arms.ts';
import type { Conditions } from './provider.ts';

const right: Conditions = { missing: null, exit_code: PROTOCOL_EXIT.ok, never: false, draws: [] };

/** Numbers below and above any chance: with these a retry succeeds or fails. */
const MENDS = 0.05;
const STAYS = 0.95;
const draws = {
  /** The conservative estimate: one recovers at the first retry, the other at the second. */
  conservative: [[MENDS], [STAYS, MENDS]],
  /** The realistic estimate: the other one keeps failing. */
  realistic: [[MENDS], [STAYS, STAYS]],
  /** The cost analysis: two failures, two retries each. */
  neither: [
    [STAYS, STAYS],
    [STAYS, STAYS],
  ],
};

/**
 * The batch of the source document: 7 documents, 2 evaluators, and of the 14 evaluations two by gemini-2.5-flash-lite
 * that miss grounding (ab2b6e81) and both (8e389e4a). The document gives three accounts of how they continue.
 */
export function seedCase(account: keyof typeof draws): Case[] {
  const [first = [], second = []] = draws[account];
  const failed: Record<string, [string, Conditions]> = {
    'document-1': [
      'ab2b6e81',
      { missing: 'grounding', exit_code: PROTOCOL_EXIT.grounding, never: false, draws: first },
    ],
    'document-2': ['8e389e4a', { missing: 'both', exit_code: PROTOCOL_EXIT.both, never: false, draws: second }],
  };
  return Array.from({ length: 7 }, (_, index) => `document-${index + 1}`).flatMap((document): Case[] => {
    const [id, fate] = failed[document] ?? [`flash-lite-${document}`, right];
    return [
      { subject: { id, model: 'gemini-2.5-flash-lite', document }, fate },
      { subject: { id: `other-${document}`, model: 'other-evaluator', document }, fate: right },
    ];
  });
}
