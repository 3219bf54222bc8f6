import { givesTask, isAsked } from './questions-and-tasks.ts';
import { clauseAround, type Clause } from './clause.ts';
import { endedWell, isHistory } from './past-failures.ts';
import { isOnlyNamed } from './failure-names.ts';
import type { Sentence } from './scanned-text.ts';

/**
 * Checks for words that name a failure without reporting one. Every check reads a bounded part of one sentence before
 * or after the word, so the cost per word is constant.
 */
const BEFORE_CHARS = 80;
const AFTER_CHARS = 60;

/** "no errors", "0 tests failed", "without crashing", "never fails", "has not seen a single exception". */
const DENIED =
  /(?:^|[^\w-])(?:no|not|never|without|zero|0|none|neither|nor|cannot|nothing|nobody|hardly|rarely|seldom|scarcely|fewer|\w{1,10}n't)(?: (?!why\b|how\b|what\b|because\b|but\b|when\b|and\b|that\b|since\b|found\b|ok\b|know\b|sure\b)[\w'"-]{1,30}){0,4} $/i;
/** "None of the requests timed out or failed": a negative subject applies to its whole clause. */
const DENYING_SUBJECT = /^(?:none|neither|nothing|nobody|no one|no|not (?:one|a single|a|any)|zero|0)\b/i;
const TURNS = /\b(?:why|how|what|because|that|since|when|and (?:it|the|then|i|we|now)|idea|clue|luck)\b/i;
/** Fixed, prevented or handled: "fixed the crash", "handles exceptions", "to avoid errors". */
const MENDED =
  /\b(?:fix(?:ed|es)|resolv(?:ed|es)|solv(?:ed|es)|correct(?:ed|s)|handl(?:e|ed|es|ing)|avoid(?:s|ed|ing)?|prevent(?:s|ed|ing)?|catch(?:es|ing)?|caught|ignor(?:e|ed|es|ing)|recover(?:s|ed|y)? from|surviv(?:e|es|ed)|remov(?:ed|es)|no longer|improv(?:ed|es)|expected|retrying|requeued?|(?:old|previous|earlier) (?:version|release|one|build)|against|reduc(?:ed|es)|report|suppressed|rid of|free of|instead of|rather than|previously|formerly|once-|protects?(?: \w{1,20})? from|tolerat(?:e|es)|covers?|covered)(?: [\w'"`()/-]{1,30}){0,3} $/i;
/** "I have added a test for the crash": work on failures, up to the end of the clause. */
const WORKED_ON =
  /^(?:(?:i|we|he|she|they|you|i've|we've|you've|they've|this|that|it|your|our|the|my|[a-z]{2,12})(?: (?:last|new|latest|next))?(?: (?:change|release|patch|commit|version|update|fix|pr|pull request|branch|refactoring)(?: [\d.]{1,12})?)? (?:(?:have|has|had|just|also|already|now|finally|both|will|successfully) ){0,3})?(?:fixed|fixes|fixing|handled|handles|added|adding|adds|removed|removes|resolved|resolves|solved|solves|documented|documents|renamed|improved|improves|replaced|replaces|explained|explains|described|describes|covered|covers|listed|lists|compared|compares|wrote|tested|mentions|mentioned|discusses|counts|simulates|simulated|injects|injected)\b/i;
const OWN_PLAN =
  /^(?:next |later |tomorrow |first |today )?(?:i'll|i will|we'll|we will|you'll|they'll|i'm going to|i am going to|we're going to|we are going to|let me|let's|let us|i'd like to|i would like to|i want to|we want to|i plan|we plan|i'm (?!getting|seeing|having|still|stuck)\w{2,12}ing|i am (?!getting|seeing|having|still)\w{2,12}ing|we're (?!getting|seeing|having|still)\w{2,12}ing|we are (?!getting|seeing|having|still)\w{2,12}ing|next i|time to|going to|about to|ready to|i need to|we need to|i have to|we have to)\b/i;
const AND_THEN = /\band (?:it|the|then|i|we|now|get|got|they|that)\b/i;
/** Hypothetical: "if it fails", "may crash", "when an error occurs", "should not throw". */
const SUPPOSED =
  /\b(?:(?:if|unless|whether|in case(?: of)?|once|whenever|until)(?: [\w'-]{1,30}){0,3}|when (?:an?|any|the|there is an?)(?: [\w-]{1,30}){0,2}|(?:may|might|can|could|would|should|must|will|to|that|which|who|what|how)(?: (?:always|also|sometimes|even|still|be|not|never|have|only|just|otherwise|then|probably|easily)){0,2}(?: (?:raise|throw|return|cause|log|report|produce|trigger|go|see|show|get|end in)(?: an?| any)?)?|checks? that(?: [\w-]{1,30}){0,3}|how to(?: [\w-]{1,30}){1,3}|(?:log|level|on)[\w-]{0,20}\s?[:=|]) $/i;
/** "We answer 422 when validation fails" is a rule; "when I save, it fails" reports an event. */
const WHEN = /\bwhen (?:(?!i |we |you |my |this |your )[\w-]{1,30} ){0,3}$/i;
/** "Suppose the server crashes", "Should the payment fail": the whole clause is hypothetical. */
const SUPPOSING_CLAUSE =
  /^(?:in the worst case|worst case|at worst|suppose|supposing|imagine|assum(?:e|ing)|let's (?:say|assume|suppose)|let us (?:say|assume|suppose)|even if|only if|if|unless|whether|in case|in the event|should (?!be\b|have\b|work\b)|were (?=.{1,60}\bto\b)|whenever|what if|provided|until|as long as|the moment|every time an?|each time an?)\b(?! (?:i|we|you|my)\b)/i;
const SUPPOSED_WITHIN = /\b(?:if|whether|unless|in case) (?!i\b|we\b|you\b)/i;
/** The failure is over: "the error is gone", "the crash is fixed". */
const OVER =
  /^,? (?:so )?(?:retrying|trying again|will (?:be )?retr\w{1,3}|waiting \d)|^\S{0,20} (?:(?:\w{1,20} ){0,2}(?:is|are|was|were|has been|have been|got) (?:now |all |already |finally )?(?:gone|fixed|resolved|solved|handled|caught|retried|requeued|expected|away|green|passing|history|over|rare|harmless|intended|mine|ours|deleted|disabled|removed|skipped|closed|explained|documented|known|a false alarm|on (?:my|our) (?:side|end))\b|went away|went down|dropped|disappeared|stopped|no longer|.{0,40}\b(?:pass|passes|works?) (?:now|again|today)\b|(?:will|can|may|should|must|would|could) (?:be|not|also|only|then|always|never|stop|block|cost) )/i;
/** `errors: 0`, `"error": null`, `failed=0`, `errors: []`. */
const ZERO_AFTER =
  /^["'`]?\s{0,4}(?:[:=|]|,? (?:is|are|was|were))\s{0,4}["'`]?(?:0(?![.\d]{0,12}[1-9])|null|none|nil|undefined|false|no|off|\[\]|\{\}|""|'')/i;
const ZERO_CELL = /^(?:,| {1,4}\|)? {0,4}0\b(?!\.)/;
const EXPLAINED =
  /^ (?:(?:means?|stands|indicates|tells|counts? as|refers)\b|(?:is|are) (?:treated|reserved|used|found|caused|harmless)\b|(?:per|by) \w)/i;
const INTENDED =
  /^(?:note that|remember that|(?:note|re|subject|title|topic|fwd|agenda|chapter|section):) |\b(?:in (?:the|this|my|our) (?:\w{1,20} )?examples?|for example|what we want|according to|the (?:docs?|documentation|manual|spec|specification|guide|guideline|readme|comment|contract|changelog|readme) (?:says?|states?|explains?|lists?|describes?|is)|by contract|as designed|by design|on purpose|as intended|as it should|as expected|as the docs say|as documented)\b/i;
/** "tests must never fail": a long match contains its own negation. */
const DENIED_WITHIN =
  /\b(?:never|not|no|must|should|may|might|can|could|would|if|when|to|that|which|for the|for a|of the)\b|n't/i;
/** People who expect a failure; only a test's "expected" says that it happened. */
const EXPECTING = /\b(?:i|we|they|you|he|she|people|everyone|would|experts|analysts)(?: \w{1,12})? $/i;
const EXPECTED_TROUBLE =
  /^expected (?:\w{1,20} )?(?:errors?|problems?|failures?|trouble|issues?|crash(?:es)?|it|that|this|the|more|less|worse)\b/i;
/** "with the following exceptions", "is an exception": another case, not a failure. */
const OTHER_CASE = /\b(?:is an|are|following|with the|one|two|few|some|notable|only) $/i;
const QUOTED_MENTION = /["“`'](?:\w{1,20} ){0,2}$/;
/** "Errors are returned, not thrown": a general behaviour, not an event. */
const RULE =
  /^(?:all |any |many |most |few |these |such |every |each |an? )?(?:errors?|exceptions?|failures?|timeouts?|crash(?:es)?|null pointers|failed \w{1,20}|crashed \w{1,20}|(?:failing|failed|broken) (?:tests?|builds?|checks?)|non-?zero \w{1,20}(?: code)?) (?:stops?|fails?|is|are|will|can|should|must|may|go|goes|gets?|ends?|happen|happens|blocks?|means?|counts?|has|have|lands?|stays?|triggers?|never|always|reports?|dumps?)\b/i;
/** "raises a KeyError for unknown names": documented behaviour, not an event. */
const HABIT =
  /^(?: (?:code|status))?(?: (?:is|are|gets?) (?:raised|returned|thrown|shown|reported|logged))? (?:for (?:bad|invalid|unknown|negative|empty|missing|any|every|each|malformed|unsupported)|on (?:failure|error|any|bad|invalid|timeout)|when (?!i\b|we\b|you\b|it\b|saving|running|opening|starting|loading|trying|clicking)|if (?!i\b|we\b|you\b|my\b)|unless)\b/i;
const SEEN =
  /\b(?:got|gave|gives?|threw|raised|returned|showed|shows|keeps?|still|get|gets|getting|see|saw|seeing|now|again|there(?: is| was|'s)|prints?|printed|ended|exited|always)\b/i;
/** Failures of people, money and cars: "the market crashed", "he failed the exam". */
const NOT_SOFTWARE =
  /\b(?:he|she|who|markets?|economy|stocks?|banks?|company|business|cars?|planes?|flight|trains?|bus|bike|students?|candidates?|patients?|marriage|harvest|crops?|party|government|experiments?|talks|negotiations|father|mother|brother|sister|friend|son|daughter)(?: \w{1,20}){0,2} $/i;
const EXAM =
  /^ (?:his|her|their|my|the|an?) (?:\w{1,20} )?(?:exam|driving test|class|course|audition|interview|degree|maths?)\b/i;

/** A request for a repair implies that something is broken: "can you look at the failing tests?" */
const REPAIR =
  /^(?:(?:please|can you|could you|would you|will you|you should|you must|you need to|now|first|then),? ){0,2}(?:fix|look (?:at|into)|have a look at|take a look at|debug|investigate|repair|sort out) (?:the|this|that|these|those|your|my|our|all|both)\b/i;

/** A failure in the present tense is current, whatever year is mentioned: "the import of the 2023 data fails". */
const PRESENT = /\b(?:fails|crashes|failing|crashing)$/i;

function isSupposed(clause: Clause, before: string): boolean {
  if (SUPPOSED.test(before) || WHEN.test(before)) return true;
  if (SUPPOSING_CLAUSE.test(clause.lead)) return true;
  return SUPPOSED_WITHIN.test(clause.lead) && !AND_THEN.test(clause.lead);
}

function isDenied(clause: Clause, before: string): boolean {
  if (DENIED.test(before)) return true;
  return DENYING_SUBJECT.test(clause.lead) && !TURNS.test(clause.lead);
}

function isOwnWork(clause: Clause, word: string): boolean {
  if (AND_THEN.test(clause.lead)) return false;
  return givesTask(clause.lead, word) || OWN_PLAN.test(clause.lead) || WORKED_ON.test(clause.lead);
}

function isHabit(word: string, before: string, after: string): boolean {
  if (/\b(?:fail|crash|err)(?:s|ed|es|ing)$/i.test(word)) return false;
  return HABIT.test(after) && !SEEN.test(before) && !SEEN.test(word);
}

/** True for a quoted title of a ticket or a talk. A quoted message of a program is a report. */
function isQuoted(text: string, start: number, end: number): boolean {
  const open = text.lastIndexOf('"', start - 1);
  if (open === -1 || text.indexOf('"', end) === -1) return false;
  if ((text.slice(0, open).split('"').length - 1) % 2 === 1) return false;
  return open > 0 && !SAYS.test(text.slice(Math.max(0, open - BEFORE_CHARS), open));
}
const SAYS =
  /\b(?:says?|said|shows?|showed|prints?|printed|messages?|errors?|get|gets|got|reads?|with|logs?|logged|throws?|threw|is|was|reports?|reported|see|saw|writes?|wrote|tests?|suite)\W{0,4}$/i;

/** True if the word at [start, end) of the sentence reports no failure. */
export function isHarmless(sentence: Sentence, start: number, end: number): boolean {
  const text = sentence.text;
  const before = text.slice(Math.max(0, start - BEFORE_CHARS), start);
  const after = text.slice(end, end + AFTER_CHARS);
  const word = text.slice(start, end);
  const clause = clauseAround(text, start, end, sentence.following);
  if (REPAIR.test(clause.lead) && !DENIED.test(before)) return false;
  if (isOnlyNamed(text, word, before, after)) return true;
  if (/: (?:none|0|ok|no)\.?$/i.test(after) || (/^expect/i.test(word) && before.endsWith('('))) return true;
  if (ZERO_AFTER.test(after) || ZERO_CELL.test(after)) return true;
  if (isDenied(clause, before) || MENDED.test(before) || isSupposed(clause, before) || OVER.test(after)) return true;
  if (isAsked(sentence, end)) return true;
  if (isQuoted(text, start, end)) return true;
  if (QUOTED_MENTION.test(before) && /^\w{0,20}["”`']/.test(after)) return true;
  if (/fail\w{0,4}$/i.test(word) && DENIED_WITHIN.test(word)) return true;
  if (INTENDED.test(text) || EXPLAINED.test(after) || isHabit(word, before, after)) return true;
  if (/^expects? /i.test(word) && EXPECTING.test(before)) return true;
  if (EXPECTED_TROUBLE.test(word) && EXPECTING.test(before)) return true;
  if (/^exceptions?$/i.test(word) && (/^ (?:of|to|that|-)/i.test(after) || OTHER_CASE.test(before))) return true;
  if (/^failed$/i.test(word) && (/\ba $/i.test(before) || EXAM.test(after))) return true;
  if (/^(?:fail|crash)/i.test(word) && NOT_SOFTWARE.test(clause.lead)) return true;
  if (RULE.test(text) || isOwnWork(clause, word)) return true;
  return (isHistory(text) && !PRESENT.test(word)) || endedWell(clause);
}
