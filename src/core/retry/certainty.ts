import type { Certainty, ToolEffect } from '../../protocol/tools.ts';

/**
 * What a failed attempt leaves known of its effect.
 *
 * For a side effect only a statement counts: by the tool itself, or by a kind of tool that watched its own request or
 * process. The class, name or status of an error proves nothing, because it may come from a call after the effect.
 * Reads and idempotent tools may run again anyway, so for them a guess from the error is good enough.
 *
 * @param stated what the tool, or its kind, says about this very attempt
 * @param guessed what the error looks like
 */
export function decideCertainty(effect: ToolEffect, stated: Certainty | undefined, guessed: Certainty): Certainty {
  if (effect === 'side_effect') return stated ?? 'unknown';
  const certainty = stated ?? guessed;
  // `done` is about effects. Without one the attempt has failed and may be tried again.
  return certainty === 'done' ? 'failed' : certainty;
}
