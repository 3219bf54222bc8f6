import { monitorFigures, type Evaluation, type MonitorFigures } from '../src/core/retry/monitors.ts';
import type { PolicyPatch } from '../src/protocol/schemas/policy.ts';
import { EndlessRunError, runEvaluation, type EvaluationResult, type Subject } from './run-evaluation.ts';
import type { Conditions } from './provider.ts';
import { SEED } from './seed-figures.ts';

/** Only the retries differ between the arms: no questions and no reruns. */
export const COMMON = {
  reruns: { max_reruns: 0 },
  humans: { max_questions: 0, max_overrides: 0 },
} satisfies PolicyPatch;
export const ARMS = {
  no_retry: { ...COMMON, retry: { validation: 0 } },
  plain_retry: { ...COMMON, retry: { enhance: false } },
  // Every run enhances, because this arm measures what enhancement achieves. `switch-seeds.ts` has the hold-out.
  ours: { ...COMMON, retry: { enhance_holdout: 0 } },
} satisfies Record<string, PolicyPatch>;
export type ArmName = keyof typeof ARMS;

export interface Case {
  subject: Subject;
  fate: Conditions;
}

export interface Arm extends MonitorFigures {
  /** The whole batch on the virtual clock, one evaluation after the other. */
  batch_ms: number;
  added_tokens: number;
  endless_loops: number;
  superfluous_demands: number;
}

/** Concurrent runs that share each turn of the event loop. */
const AT_ONCE = 50;

export async function runArm(cases: readonly Case[], arm: ArmName): Promise<Arm> {
  const lived: EvaluationResult[] = [];
  let endless = 0;
  const live = async ({ subject, fate }: Case): Promise<EvaluationResult | null> => {
    try {
      return await runEvaluation(subject, fate, ARMS[arm]);
    } catch (error) {
      if (!(error instanceof EndlessRunError)) throw error;
      endless += 1;
      return null;
    }
  };
  for (let first = 0; first < cases.length; first += AT_ONCE) {
    const batch = await Promise.all(cases.slice(first, first + AT_ONCE).map(live));
    lived.push(...batch.filter((one): one is EvaluationResult => one !== null));
  }
  const evaluations: Evaluation[] = lived.map(({ evaluation }) => evaluation);
  const retries = evaluations.reduce((total, { attempts }) => total + attempts.length - 1, 0);
  return {
    ...monitorFigures(evaluations),
    batch_ms: lived.reduce((total, { took_ms }) => total + took_ms, 0),
    added_tokens: retries * SEED.call_tokens,
    endless_loops: endless,
    superfluous_demands: lived.reduce((total, one) => total + one.superfluous_demands, 0),
  };
}
