/** A failure word that is only part of a name: a file, a type, a chapter, a kind of message. */

/** A name, a path, a flag or a member, not a word: `error.ts`, `src/errors/`, `--fail`, `last_error`, `errors[0]`. */
const NAME_BEFORE = /(?:\b(?:extends|class|new|instanceof|implements) |[\w$/\\.#@=~<-]|\w[:,])$/;
const NAME_AFTER = /^(?:[\w$/\\(=[<>-]|[.:,]\w|::| [A-Z]\w{0,40}Error\b)/;
/** A list of names: `KeyError, ValueError`. */
const LISTED_BEFORE = /(?:Error|Exception|Warning|Iteration|Interrupt), $/;
const LISTED_AFTER = /^, [A-Z]\w{1,40}(?:Error|Exception|Warning|Iteration)\b/;
/** "error handling", "error codes", "exception class": the noun is something else than a failure. */
const COMPOUND =
  /^s?(?:[ -](?:handl\w{1,6}|boundar\w{1,4}|pages?|cases?|class(?:es)?|types?|logs?|logging|levels?|reporting|reporters?|reports?|rates?|states?|columns?|fields?|paths?|prone|correction|recovery|checking|budgets?|free|safe|output|stream|objects?|counts?|counters?|mode|modes|test cases?|scenarios?|names?|tracking|trackers?|detectors?|detection|events?|values?|summary|callbacks?|constructors?|responses?|instances?|details?|text|texts|info|format|description|course|button|banner|dialogs?|screens?|icons?|colou?rs?|dumps?|hierarchy|chain|wrapper|domain|analysis|injection|tolerance|memory|signals?|records?|categor(?:y|ies)|classification|classifier|statistics|stats|metrics?|charts?|tables?|lists?|queue|threshold|margin|bars?|section|chapter|notes?|branch|injections?|window|alarms?|alerts?|notifications?|emails?|mails?|strings?|templates?|constants?|enums?|helpers?|middleware|hooks?|listeners?|monads?|values|propagation|strateg(?:y|ies)|polic(?:y|ies)|semantics|models?|of \d{4})\b|[ -](?:messages?|codes?)\b(?! ?\d| ?:))/i;
const NAMED = /(?:error|exception|failure|crash|panic)s?$/i;
const reports = (before: string): boolean =>
  /\b(?:get|got|gets|gives|gave|shows?|see|saw|this|following|with)(?: \w{1,20}){0,2} $/i.test(before);

/** A noun counts only with a cue that it happened: "I get an error", "there was a crash", "error in line 3". */
const NOUN =
  /^(?:(?:\w{1,20} )?errors?|exceptions?|failures?|crash|panic|tracebacks?|stack ?traces?|seg(?:mentation)? ?faults?|null[ -]?pointers?|core dumps?)$/i;
const HAPPENED =
  /\b(?:get|gets|got|getting|gives?|gave|giving|sees?|saw|seeing|(?:it|page|screen|console|log|terminal|app|browser) shows?|showed|showing|there(?: is| are| was| were|'s)|throws?|threw|throwing|raises|raised|ran into|encounter(?:ed|s)?|hit|due to|because of|with(?: an?)?|same|another|still|unexpected|fatal|critical|(?:i|we) (?:find|found)|caused?|causes|causing|(?:have|has|had|it's|this is|is)(?: an?| the| your)|a lot of|lots of|full of|many|several|more|new|produces?|prints?|printed|reports?|reported|says|said|ends in|ended (?:in|with)|returned|(?:always|now|still|only) returns|keeps returning|[1-9]\d{0,8}|two|three|four|some)(?: [\w'"`-]{1,30}){0,3} $/i;
const TOLD_AFTER =
  /^(?: (?:has |just )?(?:out\b|occurs|occurred|happened|appears|appeared|(?:in|on|at|near) (?:line|the|your|my|several|many|all|two|three|four|five|\d{1,6}|test\w{0,40}\b|[\w/-]{0,40}[._][\w./]{1,40}|[\w./]{1,40}:\d|\S{1,40} again)|when (?:i|we|you|it|saving|running|opening|starting|loading|trying)|while|after (?:i|we|the|running)|again|everywhere|below|above|says|said|comes|came|keeps|is back|was thrown|is thrown (?:when (?:i|we)|again|now)|was raised|message|code \d|[45]\d\d\b)| ?[:!(])/i;
/** "after a failure", "a chapter on errors", "the list of failures": the topic or the occasion, not an event. */
const TOPIC =
  /\b(?:user|human|rounding|spelling|typing) $|\b(?:for|about|regarding|concerning|(?:deals?|dealing|copes?|help|helps|familiar) with|on|upon|after|between|during|per|against|into|over|than|like|from|without|(?<!\b(?:lots?|bunch|full|tons?|because|number|pile|couple|plenty) )of)(?: (?:an?|any|the|each|every|all|such|some|known|common|possible|typical|other|partial|past|recent|many|\w{1,20} and|\w{1,20} or)){0,2} $/i;
/** "Skip the failing rows", "mark failed payments": the word selects items and reports no event. */
const ATTRIBUTE =
  /^ (?!always|sometimes|besides|unless|across|minutes|hours|seconds|times|tests|checks|builds|this|thus|less|its|was|has|does|yes)\w{3,30}s\b/i;
const ATTRIBUTE_BEFORE = /\b(?:a|the|each|every|any|this|that|your|our|its|previously|formerly) $/i;

/** "prints failed tests last": the last word of a long match belongs to the noun after it. */
const LONG_ATTRIBUTE = / (?<!\b(?:is|are|was|were|has|have|been|still|keeps?|just|also|again) )(?:failed|failing)$/i;

export function isOnlyNamed(text: string, word: string, before: string, after: string): boolean {
  if (NAME_BEFORE.test(before) || NAME_AFTER.test(after)) return true;
  if (LISTED_BEFORE.test(before) || LISTED_AFTER.test(after)) return true;
  if (NAMED.test(word) && COMPOUND.test(after) && !reports(before)) return true;
  if (/\bas $/i.test(before) && /^(?:failed|failing|crashed|broken)$/i.test(word)) return true;
  if (/^(?:crashed|crashing)$/i.test(word)) return ATTRIBUTE_BEFORE.test(before) && /^ \w{3,30}\b/.test(after);
  if (/^fail(?:ed|ing)\b/i.test(word) && /\b(?:prints|lists|counts|hides|reruns|skips|sorts|groups) $/i.test(before))
    return true;
  if (LONG_ATTRIBUTE.test(word)) return /^ (?:tests?|specs?|ones?|checks?|builds?|jobs?|runs?|cases?)\b/i.test(after);
  if (/^fail(?:ed|ing)$/i.test(word)) {
    if (ATTRIBUTE.test(after)) return !/\d $/.test(before);
    return ATTRIBUTE_BEFORE.test(before) && /^ \w{3,30}\b/.test(after);
  }
  if (!NOUN.test(word)) return false;
  if (TOPIC.test(before) && !/\b(?:because|due)\b/i.test(before)) return true;
  if (HAPPENED.test(before) || TOLD_AFTER.test(after)) return false;
  return text.split(' ', 5).length > 4;
}
