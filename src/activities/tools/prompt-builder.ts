import { createTwoFilesPatch } from 'diff';
import { refinePrompt } from '../../core/feedback/refine.ts';
import { enhancePrompt } from '../../core/retry/enhancement.ts';
import { promptEnhanced } from '../../core/retry/log-events.ts';
import type { RetryContext, PromptUse } from '../../protocol/tools.ts';
import { isoTime } from '../../protocol/time.ts';
import { saveOnce } from './artifacts.ts';
import type { LogEvent, ToolEnvironment } from './tool-environment.ts';

interface UsedPrompt {
  original: string;
  used: string;
  enhancement: string;
  actions: string[];
}

/** Builds the prompts of one attempt: enhances them on a retry and stores the prompt that was really used. */
export interface PromptBuilder {
  enhance(prompt: string, options?: { provider?: string }): string;
  /**
   * Stores the prompt that the attempt used last. Returns undefined if the attempt used none or it could not be stored.
   */
  used(ended: 'ok' | 'failed'): Promise<PromptUse | undefined>;
}

export function createPromptBuilder(
  retryContext: RetryContext | undefined,
  env: ToolEnvironment,
  log: (event: LogEvent) => void,
): PromptBuilder {
  let latest: UsedPrompt | null = null;
  return {
    enhance: (prompt, options) => {
      latest = enhanceForRetry(prompt, retryContext, options?.provider, env, log);
      return latest.used;
    },
    used: async (ended) => {
      if (latest === null) return undefined;
      // The unchanged prompt of an attempt that succeeded is not stored, because nobody needs to inspect it.
      if (ended === 'ok' && retryContext === undefined) return undefined;
      const kept = await keep(latest, env);
      if (kept === undefined) log({ event: 'prompt_not_kept', enhancement: latest.enhancement });
      return kept;
    },
  };
}

/**
 * Enhances the prompt with the retry context. If a part of the enhancement fails, the prompt is used without that part.
 */
function enhanceForRetry(
  original: string,
  retryContext: RetryContext | undefined,
  provider: string | undefined,
  env: ToolEnvironment,
  log: (event: LogEvent) => void,
): UsedPrompt {
  if (retryContext === undefined || retryContext.retry < 1)
    return { original, used: original, enhancement: 'none', actions: [] };
  const { category, retry, missed } = retryContext;
  const { prompt: refined, actions } = refineByFeedback(original, retryContext, env, log);
  const enhanced = enhancePrompt({ prompt: refined, category, retry, missed, provider: provider?.toLowerCase() });
  log(promptEnhanced({ category, retry, ...enhanced }));
  const parts = [
    ...(enhanced.enhancement === 'none' ? [] : [enhanced.enhancement]),
    ...(refined === original ? [] : ['feedback']),
  ];
  return { original, used: enhanced.prompt, enhancement: parts.join('+') || 'none', actions };
}

function refineByFeedback(
  prompt: string,
  { feedback }: RetryContext,
  env: ToolEnvironment,
  log: (event: LogEvent) => void,
): { prompt: string; actions: string[] } {
  if (feedback === undefined) return { prompt, actions: [] };
  try {
    const { refined_prompt, iterations } = refinePrompt(prompt, feedback.signal, { timestamp: isoTime(env.now()) });
    for (const { feedback_type, actions_applied, iteration, success } of iterations) {
      log({ event: 'prompt_refined', feedback_type, actions_applied, iteration, success });
    }
    return { prompt: refined_prompt, actions: [...new Set(iterations.flatMap((entry) => entry.actions_applied))] };
  } catch {
    return { prompt, actions: [] };
  }
}

async function keep(prompt: UsedPrompt, env: ToolEnvironment): Promise<PromptUse | undefined> {
  const { original, used, enhancement, actions } = prompt;
  const patch = original === used ? null : createTwoFilesPatch('original', 'enhanced', original, used);
  const save = (text: string, mediaType: string) => saveOnce(env, text, mediaType);
  const [original_id, enhanced_id, diff_id] = await Promise.all([
    save(original, 'text/plain'),
    save(used, 'text/plain'),
    patch === null ? null : save(patch, 'text/x-diff'),
  ]);
  const complete = original_id !== null && enhanced_id !== null && (patch === null || diff_id !== null);
  if (!complete) return undefined;
  return { original_id, enhanced_id, diff_id, enhancement, ...(actions.length > 0 && { actions }) };
}
