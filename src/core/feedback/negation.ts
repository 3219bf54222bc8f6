import type { Sentence } from './text.ts';

/**
 * Words that name a failure without reporting one. Every check looks at a bounded stretch of one sentence before or
 * after the word, so the cost per word is constant.
 */
const BEFORE_CHARS = 80;
const AFTER_CHARS = 60;

/** "no errors", "0 tests failed", "without crashing", "never fails", "has not seen a single exception". */
const DENIED =
  /(?:^|[^\w-])(?:no|not|never|without|zero|0|none|neither|nor|cannot|nothing|nobody|hardly|\w{1,10}n't)(?: (?!why\b|how\b|what\b|because\b|but\b|when\b|and\b|that\b|since\b|found\b|ok\b|know\b|sure\b)[\w'"-]{1,30},?){0,4} $/i;
/** Mended, guarded against or merely dealt with: "fixed the crash", "handles exceptions", "to avoid errors". */
const MENDED =
  /\b(?:fix(?:ed|es)|resolv(?:ed|es)|solv(?:ed|es)|correct(?:ed|s)|handl(?:e|ed|es|ing)|avoid(?:s|ed|ing)?|prevent(?:s|ed|ing)?|catch(?:es|ing)?|caught|ignor(?:e|ed|es|ing)|recover(?:s|ed|y)? from|surviv(?:e|es|ed)|remov(?:ed|es)|no longer|improv(?:ed|es)|expected|retry(?:ing)?|requeued?|(?:old|previous|earlier) (?:version|release|one|build)|against|reduc(?:ed|es)|report|suppressed|rid of)(?: [\w'"`()/-]{1,30}){0,3} $/i;
/** Supposed, not reported: "if it fails", "may crash", "when an error occurs", "should not throw". */
const SUPPOSED =
  /\b(?:(?:if|unless|whether|in case(?: of)?|once|whenever|for|until)(?: [\w'-]{1,30}){0,3}|when (?:an?|any|the|there is an?)(?: [\w-]{1,30}){0,2}|(?:may|might|can|could|would|should|must|will|to|that|which|who|what|how)(?: (?:always|also|sometimes|even|still|be|not|never)){0,2}(?: (?:raise|throw|return|cause|log|report|produce|trigger|go)(?: an?| any)?)?|checks? that(?: [\w-]{1,30}){0,3}|how to(?: [\w-]{1,30}){1,3}|(?:log|level|on)[\w-]{0,20}\s?[:=|]) $/i;
/** The failure is over: "the error is gone", "the crash is fixed". */
const OVER =
  /^\S{0,20} (?:(?:\w{1,20} ){0,2}(?:is|are|was|were|has been|have been|got) (?:now |all |already |finally )?(?:gone|fixed|resolved|solved|handled|caught|retried|requeued|expected|away)\b|went away|disappeared|no longer|.{0,40}\b(?:pass|passes|works?) (?:now|again)\b|(?:will|can|may|should|must) be )/i;
/** `errors: 0`, `"error": null`, `failed=0`, `errors: []`. */
const ZERO_AFTER =
  /^["'`]?\s{0,4}(?:[:=|]|,? (?:is|are|was|were))\s{0,4}["'`]?(?:0(?![.\d]*[1-9])|null|none|nil|undefined|false|no|off|\[\]|\{\}|""|'')/i;
const ZERO_CELL = /^(?:,| {1,4}\|)? {0,4}0\b(?!\.)/;
/** A name, a path, a flag or a member, not a word: `error.ts`, `src/errors/`, `--fail`, `last_error`, `errors[0]`. */
const NAME_BEFORE = /(?:\b(?:extends|class|new|instanceof|implements) |[\w$/\\.#@=~<-]|\w[:,])$/;
const NAME_AFTER = /^(?:[\w$/\\(=[<>-]|[.:,]\w|::| [A-Z]\w{0,40}Error\b)/;
/** "error handling", "error codes", "exception class": the thing around a failure. */
const COMPOUND =
  /^s?(?:[ -](?:handl\w{1,6}|boundar\w{1,4}|pages?|cases?|class(?:es)?|types?|logs?|logging|levels?|reporting|reporters?|reports?|rates?|states?|columns?|fields?|paths?|prone|correction|recovery|checking|budgets?|free|safe|output|stream|objects?|count|mode|test cases?|scenarios?|names?|tracking|detectors?|events?|values?|summary|callbacks?|constructors?|responses?|instances?|details?|text|info|format|description|course|button|mode|of \d{4})\b|[ -](?:messages?|codes?)\b(?! ?\d| ?:))/i;
const EXPLAINED = /^ (?:(?:means?|stands|indicates|tells)\b|(?:a|per|every|by) \w)/i;
const INTENDED = /\b(?:as designed|by design|on purpose|as intended|as it should)\b/i;
/** "tests must never fail": a long match carries its own denial. */
const DENIED_WITHIN = /\b(?:never|not|no|must|should|may|might|can|could|would|if|when|to|that|which)\b|n't/i;
/** People expect; only a test says that it did. */
const EXPECTING = /\b(?:i|we|they|you|he|she|people|everyone|would|experts|analysts)(?: \w{1,12})? $/i;
const NAMED = /(?:error|exception|failure|crash|panic)s?$/i;
const QUOTED_MENTION = /["“`'](?:\w{1,20} ){0,2}$/;
/** A task about failures: "add error handling", "write a test for the error case", "explain what a segfault is". */
const TASK =
  /^(?:(?:please|now|then|next|first|also|and|can you|could you|would you|will you|i want you to|you should),? ){0,3}(?:add|write|explain|list|document|describe|show|create|implement|make sure|ensure|use|retry|rename|move|summari[sz]e|translate|open|handle|log|throw|return|report|let|define|design|generate|tell|give|teach|compare|improve|test for|check (?:for|that|whether|if)|avoid|catch|ignore|print|raise|(?:stop|continue|exit|abort) (?:on|with|at|after|if)|return|make (?:it|the)|call|skip|send|mark|set|save|store|display|hide|highlight|delete|collect|count|group|draw|turn|fill|convert|wrap|refactor|treat|map|find|start with|begin with|offer|name|plot|read|put|include|keep|apply|provide|specifies|returns|shows|displays|prints|copy|sort)\b/i;
/** "Errors are returned, not thrown": how a thing behaves, not what happened. */
const RULE =
  /^(?:all |any |these |such )?(?:errors|exceptions|failures|failed \w{1,20}|crashes|null pointers|a? ?(?:failing|failed|broken) (?:tests?|builds?|checks?)) (?:is|are|will|can|should|must|may|go|get|end|happen|blocks?|means?)\b/i;
const HABIT =
  /^(?: (?:is|are|gets?) (?:raised|returned|thrown|shown|reported|logged))? (?:for (?:bad|invalid|unknown|negative|empty|missing|any|every|each)|if|unless)\b/i;
const WHY =
  /^(?:(?:and|but|so|hi|hey|hmm|ok),? )?(?:why|how come)\b(?! (?:would|might|could|should|do (?!i\b|we\b|you\b|the\b|these\b|those\b|my\b)))/i;

const reports = (before: string): boolean =>
  /\b(?:get|got|gets|gives|gave|shows?|see|saw|this|following|with)(?: \w{1,20}){0,2} $/i.test(before);

/** True when the word at [start, end) of the sentence reports no failure. */
export function isHarmless(sentence: Sentence, start: number, end: number): boolean {
  const text = sentence.text;
  const before = text.slice(Math.max(0, start - BEFORE_CHARS), start);
  const after = text.slice(end, end + AFTER_CHARS);
  if (NAME_BEFORE.test(before) || NAME_AFTER.test(after)) return true;
  const word = text.slice(start, end);
  if (NAMED.test(word) && COMPOUND.test(after) && !reports(before)) return true;
  if (/: (?:none|0|ok|no)\.?$/i.test(after) || (/^expect/i.test(word) && before.endsWith('('))) return true;
  if (ZERO_AFTER.test(after) || ZERO_CELL.test(after)) return true;
  if (DENIED.test(before) || MENDED.test(before) || SUPPOSED.test(before) || OVER.test(after)) return true;
  if (isAsked(sentence, end)) return true;
  if (QUOTED_MENTION.test(before) && /^\w{0,20}["”`']/.test(after)) return true;
  if (/fail\w{0,4}$/i.test(word) && DENIED_WITHIN.test(word)) return true;
  if (isOnlyNamed(text, word, before, after)) return true;
  if (INTENDED.test(text) || EXPLAINED.test(after)) return true;
  if (HABIT.test(after) || (/^expects? /i.test(word) && EXPECTING.test(before))) return true;
  if (/^exceptions?$/i.test(word) && /^ (?:of|to)\b/i.test(after)) return true;
  if (/^failed$/i.test(word) && /\ba $/i.test(before)) return true;
  return RULE.test(text) || isTask(text, start);
}

/** A noun needs a cue that it happened: "I get an error", "there was a crash", "error in line 3". */
const NOUN =
  /^(?:(?:\w{1,20} )?errors?|exceptions?|failures?|crash|panic|tracebacks?|stack ?traces?|seg ?faults?|null[ -]?pointers?|core dumps?)$/i;
const HAPPENED =
  /\b(?:get|gets|got|getting|gives?|gave|giving|sees?|saw|seeing|(?:it|page|screen|console|log|terminal|app|browser) shows?|showed|showing|there(?: is| are| was| were|'s)|throws?|threw|throwing|raises|raised|ran into|encounter(?:ed|s)?|hit|due to|because of|with(?: an?)?|same|another|still|unexpected|fatal|critical|(?:i|we) (?:find|found)|caused?|causes|causing|(?:have|has|had|it's|this is|is)(?: an?| the| your)|a lot of|many|several|more|new|produces?|prints?|printed|reports?|reported|says|said|ends in|[1-9]\d{0,8}|two|three|four|some)(?: [\w'"`-]{1,30}){0,3} $/i;
const TOLD_AFTER =
  /^(?: (?:has |just )?(?:out\b|occurs|occurred|happened|appears|appeared|(?:in|on|at|near) (?:line|the|your|my|[\w./]{1,40}:\d|\S{1,40} again)|when (?:i|we|you|it|saving|running|opening|starting|loading|trying)|while|after (?:i|we|the|running)|again|everywhere|below|above|says|said|comes|came|keeps|is back|was thrown|is thrown|was raised|message|code \d|[45]\d\d\b)| ?[:!(])/i;
/** "Skip the failing rows", "mark failed payments": which ones, not what happened. */
const ATTRIBUTE =
  /^ (?!always|sometimes|besides|unless|across|minutes|hours|seconds|times|tests|checks|builds)\w{4,30}s\b/i;

function isOnlyNamed(text: string, word: string, before: string, after: string): boolean {
  if (/^fail(?:ed|ing)$/i.test(word)) return ATTRIBUTE.test(after) && !/\d $/.test(before);
  if (!NOUN.test(word) || HAPPENED.test(before) || TOLD_AFTER.test(after)) return false;
  return text.split(' ', 5).length > 4;
}

const ASKS =
  /^(?:(?:and|but|so|ok|hi|hey|hmm|then|well),? )?(?:is|are|was|were|do|does|did|can|could|will|would|should|shall|has|have|had|may|might|what|which|who|where|when|how|any|isn't|aren't|doesn't|didn't)\b/i;

/** Asked, not told. "Why does it crash?" tells; so does "It crashed, can you look?", before its comma. */
function isAsked(sentence: Sentence, end: number): boolean {
  if (!sentence.question || WHY.test(sentence.text)) return false;
  return ASKS.test(sentence.text) || !sentence.text.includes(',', end);
}

function isTask(text: string, start: number): boolean {
  const task = TASK.exec(text);
  // "copy failed": the verb of a task is also the name of what failed.
  if (task === null || (start <= task[0].length + 1 && /^(?:fail|crash)(?!ed \w{1,30}s\b)/i.test(text.slice(start))))
    return false;
  const pause = text.search(/[,;:—–]/);
  return pause === -1 || pause > start || pause < 12;
}

const ASKED_OF_YOU = /^(?:(?:please|and|so|but),? )?(?:can|could|would|will) you\b|\bplease\b/i;
const OWN_PLAN =
  /\b(?:i|we|i'll|we'll|i'd|they|he|she|users?|you can|you may|should i|shall i|shall we|let me)(?: (?:will|can|could|should|would|may|might|just|shall)){0,2} $/i;
const OWN_FAULT = /\bi(?:'m| am| was| have| must have| may have)? $/i;
const AGAIN = /^(?:try|do|redo|start|undo|revert|roll)\b/i;
const NOT_JUDGED =
  /\b(?:(?:not|nothing|never|isn't|aren't|wasn't|don't|can't|cannot|anything|without|nor)(?: [\w']{1,20}){0,2}|(?:if|whether)(?: [\w']{1,20}){0,4}|(?:i|we|he|she|they) (?:have |just )?(?:made|pushed|merged|did|committed)(?: \w{1,20}){0,2}|(?:something|what|goes?|could|would be)(?: \w{1,20})?) $/i;

/** The guards for what people say about a result. A denied judgement ("nothing wrong", "not good but") is none. */
export function isNoJudgement(sentence: Sentence, start: number, matched: string): boolean {
  const before = sentence.text.slice(Math.max(0, start - BEFORE_CHARS), start);
  if (!ASKED_OF_YOU.test(sentence.text) && isAsked(sentence, start + matched.length)) return true;
  if (AGAIN.test(matched) && OWN_PLAN.test(before)) return true;
  if (/^(?:no|nope|nah)\b/i.test(matched.trimStart()) && sentence.afterQuestion) return true;
  if (/^(?:he|she|they)\b/i.test(sentence.text) && /\bwrong\b/i.test(matched)) return true;
  if (OWN_FAULT.test(before) && /^(?:was|am|misunder|misread|got|wrong)/i.test(matched)) return true;
  const after = sentence.text.slice(start + matched.length);
  if (/["“`]$/.test(before) && /^\w{0,20}[.!]?["”`]/.test(after)) return true;
  if (NOT_JUDGED.test(before) || (start > 0 && isTask(sentence.text, start))) return true;
  // "a good but strict teacher" describes, it does not judge.
  return / but$/i.test(matched) && !matched.includes(',') && /\b(?:an?|any|some|of|the) $/i.test(before);
}
