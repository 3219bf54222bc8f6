import type { ReviewReport } from '../../../core/guardrails/loop-report.ts';
import { rerunDepth } from '../../../core/guardrails/loop-ids.ts';
import { createDice } from './dice.ts';
import { DICE, type Scene } from './scene.ts';

/** The review of one loop. It depends only on seed and loop. */
export function drawReview(scene: Scene, loopId: string): ReviewReport {
  const depth = rerunDepth(loopId);
  const dice = createDice(scene.seed, DICE.reviewer, depth);
  const score = (): number => Math.round(dice.share() * 1_000) / 1_000;
  switch (scene.character.reviewer) {
    case 'harsh':
      return { alignment_score: 0, drift_score: 1, summary_valid: false };
    case 'improving':
      // Scores improve but never suffice, so that only the rerun limit ends the run.
      return { alignment_score: Math.min(70, 5 * depth) / 100, drift_score: 0.9, summary_valid: false };
    case 'biased':
      return { alignment_score: score() / 2, drift_score: score(), bias_tags: ['anchoring', dice.pick(['a', 'b'])] };
    case 'fair':
      return { alignment_score: 1, drift_score: 0 };
    case 'broken':
      return { alignment_score: 7, drift_score: -1 };
    case 'any':
      return {
        alignment_score: score(),
        drift_score: score(),
        summary_valid: dice.chance(0.8),
        ...(dice.chance(0.3) && { bias_tags: [dice.pick(['a', 'b', '__proto__'])] }),
      };
  }
}
