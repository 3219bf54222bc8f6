import type { FailureCategory } from '../../protocol/failure-categories.ts';
import { NOTE_BEGIN, NOTE_END, noteText } from './enhancement-text.ts';
import { strategyOf } from './strategies.ts';
import type { Enhancement } from './strategies.ts';

export interface EnhanceQuestion {
  /** The prompt of the first attempt or of an earlier retry. An old note is replaced. */
  prompt: string;
  category: FailureCategory;
  /** The number of the retry, from 1. 0 is the first attempt, which is never enhanced. */
  retry: number;
  /** Lower-case name of the model's provider, such as `google`, for wording that only this provider gets. */
  provider?: string | undefined;
  /** The items that a failure report listed as missing. */
  missed?: readonly string[] | undefined;
}

export interface EnhancedPrompt {
  prompt: string;
  /** The enhancement that was used; `none` when the prompt is the original. */
  enhancement: Enhancement;
  /** The exact text that was added before the original prompt. */
  added: string;
  fell_back_because: string | null;
}

const SEPARATOR = '\n\n';

/**
 * Removes the notes of earlier retries from the start of a prompt. An incomplete note is kept, because it is the user's
 * text.
 */
export const withoutNote = (prompt: string): string => {
  let start = 0;
  while (prompt.startsWith(NOTE_BEGIN, start)) {
    const end = prompt.indexOf(NOTE_END + SEPARATOR, start);
    if (end === -1) break;
    start = end + NOTE_END.length + SEPARATOR.length;
  }
  return prompt.slice(start);
};

const reasonOf = (error: unknown): string => (error instanceof Error ? error.name : 'unknown');

const before = (original: string, note: string, enhancement: Enhancement): EnhancedPrompt => ({
  prompt: note + SEPARATOR + original,
  enhancement,
  added: note + SEPARATOR,
  fell_back_because: null,
});

/**
 * Adds a note about what was missing to the prompt of a retry. It never fails: when the note for this failure cannot be
 * made, the generic note is used, and when that fails too, the original prompt is used unchanged.
 */
export const enhancePrompt = (question: EnhanceQuestion): EnhancedPrompt => {
  const { category, retry } = question;
  const original = withoutNote(question.prompt);
  const { enhancement } = strategyOf(category);
  if (retry < 1 || enhancement === 'none')
    return { prompt: original, enhancement: 'none', added: '', fell_back_because: null };

  try {
    const { provider, missed } = question;
    return before(original, noteText({ category, enhancement, retry, provider, missed }), enhancement);
  } catch (error) {
    const fell_back_because = reasonOf(error);
    try {
      const note = noteText({ category, enhancement: 'generic', retry });
      return { ...before(original, note, 'generic'), fell_back_because };
    } catch {
      return { prompt: original, enhancement: 'none', added: '', fell_back_because };
    }
  }
};
