import { givesTask, isAsked } from './questions-and-tasks.ts';
import { clauseAround } from './clause.ts';
import type { Sentence } from './scanned-text.ts';

const THANKED = /\b(?:thanks|thank you|thx|grateful|appreciate|appreciated)(?: [\w']{1,20}){0,4} $/i;
const BEFORE_CHARS = 80;

const ASKED_OF_YOU = /\b(?:can|could|would|will) you\b|\bplease\b/i;
const AGAIN = /^(?:try|do|redo|start|undo|revert|roll|give)\b/i;
/** An order to do it again implies that the result was not good. */
const TOLD_TO =
  /^(?:(?:go back|come back|delete it|throw it away|stop|read it|look|wait),? (?:and )?)?(?:(?:please|and|then|now|just|simply|rather|you|should|must|have to|need to|can|could|would|will|better|i want you to|i need you to|i'd like you to|i would like you to|i said|i asked you to|the whole thing) ){0,4}$/i;
const OTHERS = /^(?:you )?(?:can|could|will|would) (?!you\b)$|^you (?:can|may|could|will) $/i;
/** "Undo works with Ctrl+Z": the name of a feature, not a request. */
const FEATURE =
  /^ (?:(?:and|or) (?:redo|undo)|works?|button|is|are|history|steps?|stack|command|key|feature|in the|went|commit|point)\b/i;
const NOT_JUDGED =
  /\b(?:(?:not|nothing|never|isn't|aren't|wasn't|don't|doesn't|didn't|won't|can't|cannot|anything|without|nor|hardly)(?: [\w']{1,20}){0,2}|(?:if|whether|when|why|unless|in case|explains?|until|how)(?: [\w'"]{1,20}){0,4}|(?:i|we|he|she|they) (?:have |just )?(?:made|pushed|merged|did|committed)(?: \w{1,20}){0,2}|(?:something|what|goes?|could|would be|may|might|to)(?: \w{1,20})?) ?$/i;
/** "I was wrong", "I may have missed the point", "my phone is broken": people say it about themselves. */
const OWN_FAULT =
  /\b(?:(?:i|we)(?: (?:am|was|were|have|had|must|may|might|just|first|probably|also|totally|completely)){0,3}|(?:i'm|we're|i've|we've)(?: \w{1,20})?|my (?:phone|laptop|computer|keyboard|internet|car|instructions?|mistake|fault|wording|question|last message)(?: (?:is|was|were|are))?) $/i;
const OWN_SLIP =
  /^i (?:just |had |have )?(?:gave|sent|told|pasted|used|took|picked|opened|had|ran|typed|copied|read|mixed|was|am|looked|clicked|chose)\b/i;
const OWN_WORD =
  /^(?:was|were|am|is|are|misunder|misread|got|took|had|wrong|incorrect|missed|did|didn't|don't|do not|broken)/i;
/** Somebody's working hours, not whether a thing works. */
const WORKER =
  /\b(?:i|we|he|she|who|people|nobody|everyone|(?:my|our|his|her|the) (?:brother|sister|wife|husband|father|mother|son|daughter|boss|colleague|friend|employee)s?)(?: (?:also|usually|still|is|are)){0,2} $/i;
const WORKS_ON =
  /^ (?:that way|this way|like (?:that|this)|on (?:it|that|this|a|the|weekends|sundays?|fridays?)|for (?:a|them|us|that)|there|here|today|tomorrow|with (?:that|this|them|him|her))\b/i;

/** Praise that is not taken back decides: "not what I expected, it is so much better". */
const PRAISE =
  /\b(?:(?:so |much |even |far )(?:better|nicer|faster)|(?:it's|it is|that's|that is|this is|looks|is|are|was|all|really|we're|i'm|i am|we are) (?:(?:all|just|really|so|very|absolutely|simply|totally) ){0,2}(?:great|good|perfect|fine|awesome|amazing|excellent|happy|right|correct|wonderful|lovely|settled|fixed|gone|all there)|well done|(?:good|great|nice|amazing|excellent|lovely) (?:work|job|one|idea)|i (?:really )?(?:love|like) (?:it|this|that|them|both)|love it|exactly what|never mind|all good|thank you|works (?:now|again|fine|great|perfectly|for me))\b/i;
const TAKEN_BACK =
  /\b(?:but|except|apart from|however|although|though|only|other than|not|isn't|doesn't|still|until|if)\b/i;
const DENIED_PRAISE =
  /(?:\b(?:not|never|no|nothing|if|would be|could be|far from|less|hardly|old|previous|original|earlier)|n't)(?: \w{1,20}){0,2} $/i;

function isPraise(told: string): boolean {
  const praise = PRAISE.exec(told);
  if (praise === null) return false;
  const before = told.slice(Math.max(0, praise.index - BEFORE_CHARS), praise.index);
  return !DENIED_PRAISE.test(before) && !TAKEN_BACK.test(told.slice(praise.index + praise[0].length));
}

function isAgainByOthers(lead: string, after: string): boolean {
  return !TOLD_TO.test(lead) || /^(?:redo|undo) /i.test(lead) || OTHERS.test(lead) || FEATURE.test(after);
}

/** True if the words at `start` are not a judgement. `rejects` tells a rejection from a partial success. */
export function isNoJudgement(sentence: Sentence, start: number, matched: string, rejects: boolean): boolean {
  const text = sentence.text;
  const end = start + matched.length;
  const before = text.slice(Math.max(0, start - BEFORE_CHARS), start);
  const after = text.slice(end);
  if (!ASKED_OF_YOU.test(text) && isAsked(sentence, end)) return true;
  const { lead } = clauseAround(text, start, end, sentence.following);
  if (AGAIN.test(matched.trimStart()) && isAgainByOthers(lead, after)) return true;
  if (/(?:redo|undo|revert|start over)$/i.test(matched) && FEATURE.test(after)) return true;
  if (/^(?:no|nope|nah)\b/i.test(matched.trimStart()) && sentence.afterQuestion) return true;
  if (/^(?:he|she|they)\b/i.test(text) && /\bwrong\b/i.test(matched)) return true;
  if (OWN_FAULT.test(before) && OWN_WORD.test(matched)) return true;
  if (/\bwrong\b/i.test(matched) && OWN_SLIP.test(lead)) return true;
  if (/\bwork/i.test(matched) && rejects && (WORKER.test(before) || WORKS_ON.test(after))) return true;
  if (/["“`]$/.test(before) && /^\w{0,20}[.!]?["”`]/.test(after)) return true;
  if (!rejects && (/^\W{0,3}thank/i.test(after) || THANKED.test(before))) return true;
  if ((!/^[,;]/.test(matched) && NOT_JUDGED.test(before)) || (start > 0 && lead !== '' && givesTask(lead, matched)))
    return true;
  if (rejects && isPraise(`${after} ${sentence.following}`)) return true;
  // "a good but strict teacher" is a description, not a judgement.
  return / but$/i.test(matched) && !matched.includes(',') && /\b(?:an?|any|some|of|the) $/i.test(before);
}
