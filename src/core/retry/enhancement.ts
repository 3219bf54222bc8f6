import type { FailureCategory } from '../../protocol/failure-categories.ts';
import { NOTE_BEGIN, NOTE_END, noteText } from './enhancement-text.ts';
import { strategyOf } from './strategies.ts';
import type { Enhancement } from './strategies.ts';

export interface EnhanceQuestion {
  /** The prompt of the first attempt, or of an earlier retry: an old note is replaced, never added to. */
  prompt: string;
  category: FailureCategory;
  /** From 1; 0 is the first attempt, which is never enhanced. */
  retry: number;
  /** Lower-case name of the model's provider, such as `google`; its own words are used for it alone. */
  provider?: string | undefined;
  /** What a failure report listed as missing. */
  missed?: readonly string[] | undefined;
}

export interface EnhancedPrompt {
  prompt: string;
  /** What was really done; `none` when the prompt is the original. */
  enhancement: Enhancement;
  /** Exactly what now stands before the original: the difference between the two. */
  added: string;
  fell_back_because: string | null;
}

const SEPARATOR = '\n\n';

/** Takes the notes of earlier retries off the front of a prompt. What merely looks like half a note is the user's text. */
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
 * The prompt of a retry, with what was missed said before it. A help, never in the way: when the words for this failure
 * cannot be made, the generic note stands instead, and when not even that, the original goes out as it was.
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
