import type { Sentence } from './scanned-text.ts';

const ASKS =
  /^(?:(?:and|but|so|ok|hi|hey|hmm|then|well),? )?(?:is|are|was|were|do|does|did|can|could|will|would|should|shall|has|have|had|may|might|what|which|who|where|when|how|any|isn't|aren't|doesn't|didn't)\b/i;
/** "Why does it crash?" reports a crash; "why would it crash?" only supposes one. */
const WHY =
  /^(?:(?:and|but|so|hi|hey|hmm|ok),? )?(?:why|how come)\b(?! (?:would|might|could|should|do (?!i\b|we\b|you\b|the\b|these\b|those\b|my\b)))/i;

/** True if the sentence is a question up to this point. "It crashed, can you look?" reports before its comma. */
export function isAsked(sentence: Sentence, end: number): boolean {
  if (!sentence.question || WHY.test(sentence.text)) return false;
  return ASKS.test(sentence.text) || !sentence.text.includes(',', end);
}

/** A task about failures: "add error handling", "write a test for the error case", "explain what a segfault is". */
const TASK =
  /^(?:(?:please|now|then|next|first|also|and|always|never|only|do not|don't|can you|could you|would you|will you|i want you to|i'd like you to|you should|you can|we should|remember to|try to|be sure to),? ){0,3}(?:add|write|explain|list|document|describe|show|create|implement|make sure|ensure|use|retry|rename|move|summari[sz]e|translate|open|handle|log|throw|return|report|let|define|design|generate|tell|give|teach|compare|improve|test for|check (?:for|that|whether|if|the)|avoid|catch|ignore|print|raise|(?:stop|continue|exit|abort|wait|pause) (?:on|with|at|after|if|until|for|between|a|when)|make (?:it|the|errors|failures)|call|skip|send|mark|set|save|store|display|hide|highlight|delete|collect|count|group|draw|turn|fill|convert|wrap|refactor|treat|map|find|start with|begin with|offer|name|plot|read|put|include|keep|apply|provide|specifies|returns|shows|displays|prints|copy|sort|prefer|reject|replace|look (?:for|at|up)|search|swallow|compute|calculate|filter|propagate|forward|emit|notify|alert|ping|warn|escalate|record|track|measure|monitor|estimate|parse|extract|validate|verify that|assert that|consider|discuss|review|outline|draft|suggest|recommend|think about|note that|remember|imagine|assume|suppose|simulate|inject|trigger|force|reproduce|mock|expose|export|import|select|query|insert|update the|change the (?:text|wording|label|colou?r|name|title)|take|bring|roll back (?:on|if|when|after)|restart|resume|requeue|escape|cap|limit|throttle|queue|schedule|assign|categori[sz]e|classify|label|tag|annotate|separate|split|merge|combine|deduplicate|reduce|increase|quote|phrase|reword|remove|test (?:that|what|the|if|whether|how)|shorten|capitali[sz]e|render|attach|link to|point out|answer|reply|respond|ask|inform|tolerate|allow|disable|enable|configure|set up|switch|learn)\b/i;

/** Verbs of a task can also name what failed: "copy failed", "import crashed". */
const FAILS_ITSELF =
  /^(?:fail|crash|broke|is |are |error|still|keeps?|now|(?:is|does|do|did|was|are|wo|ca)n't|does not|did not|not working)(?!ed \w{1,30}s\b)/i;

/** True if `lead`, the clause up to a failure word, gives a task. */
export function givesTask(lead: string, word: string): boolean {
  const task = TASK.exec(lead);
  if (task === null) return false;
  return lead.length > task[0].length + 1 || !FAILS_ITSELF.test(word);
}
