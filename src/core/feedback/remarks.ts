import { defined } from '../../protocol/json.ts';
import { toOneLine } from './scanned-text.ts';
import type { FeedbackContext, FeedbackType } from './types.ts';

/**
 * Reads what a person asks for, in their own words. Only the first 2,000 characters are read, because remarks are
 * short.
 */
const READ_CHARS = 2_000;

const WANTED =
  /\b(?:i|we) (?:meant|want(?:ed)?|need(?:ed)?|asked for|was asking (?:about|for)|were asking (?:about|for)|would like|said)\b:? (?:to (?:have )?|that |you to )?([^.!?\n]{2,300})/i;
const OBLIGED = /(?:^|[.!?;:,] )([^.!?,;:\n]{2,120} (?:has to|have to|should|must|needs? to) [^.!?\n]{2,200})/i;
const AFTER_NO =
  /^(?:sorry,? |well,? |hmm,? )?(?:no|nope|nah|wrong|incorrect)[,.!:—–-]{1,8} ?(?!that's|that is|this is|not )([^.!?\n]{4,300})/i;
const AFTER_TURN =
  /\b(?:but|except(?: for| that)?|apart from|other than|aside from|however|though|just needs? to|only thing (?:left |missing )?is|only (?:problem|issue)(?: left)? is|one (?:\w{1,20} )?thing[:,]|minor issues?(?: with)?:?|small (?:change|tweak)s?:?|nits?:|only|just|still)[:,]? ([^.!?\n]{3,300})/i;
const NEXT_SENTENCE = /[.!?:—–-] {1,3}([^.!?\n]{4,300})/;
const ALTERNATIVE =
  /\b(?:use|try|switch to|go with|rather|instead of \S{1,40}|keep|take) ((?!again\b|it\b|this\b|that\b|over\b)[^.!?\n,]{2,200}?)(?: instead)?(?:[.!?,\n]|$)/i;

/** A specific change is requested, which raises the confidence of a partial success. */
const CHANGE =
  /\b(?:change|rename|add|remove|move|swap|make|use|replace|shorten|keep|delete|drop|capitali[sz]e|fix|put|show|limit|sort|open|should|needs? (?:to|a|an|more|two|one|some)|has to|have to|must|could (?:be|have|you)|can you|forgot|missing|would prefer|is off)\b/i;
/** "Try again" or similar, which raises the confidence of a rejection. */
const REDO =
  /\btry (?:again|it again|this again|something else|(?:a |an)?(?:different|other|another))\b|\b(?:redo|start over|start again|do (?:it|this|that) (?:again|over)|from scratch|revert|undo)\b/i;

export const asksForChange = (text: string): boolean => CHANGE.test(text.slice(0, READ_CHARS));
export const asksToRedo = (text: string): boolean => REDO.test(text.slice(0, READ_CHARS));

const firstOf = (text: string, patterns: RegExp[]): string | undefined => {
  for (const pattern of patterns) {
    const found = pattern.exec(text)?.[1]?.trim();
    if (found !== undefined && found !== '') return toOneLine(found);
  }
  return undefined;
};

export function readRemark(text: string, type: FeedbackType): FeedbackContext {
  if (type !== 'user_rejection' && type !== 'partial_success') return {};
  const read = text.slice(0, READ_CHARS).trim();
  const change =
    type === 'partial_success'
      ? firstOf(read, [AFTER_TURN, NEXT_SENTENCE, OBLIGED])
      : firstOf(read, [WANTED, AFTER_NO, OBLIGED]);
  const alternatives = type === 'user_rejection' ? firstOf(read, [ALTERNATIVE]) : undefined;
  const remark = toOneLine(read);
  return {
    ...(remark === '' ? {} : { remark }),
    ...defined({ requested_change: change, alternatives }),
  };
}
