import type { Family } from './patterns.ts';

/**
 * Patterns of what people write about a result. All patterns are words: they are read per sentence, with the checks of negation.ts.
 * Everyday words (`no`, `close`, `almost`, `except`) count only where they judge: `close but`, not `close to the
 * station`.
 */
const JUDGED = String.raw`(?:right|correct|perfect|done|good|fine|great|ok|okay|works|working|finished|ready|complete|matches|identical|exactly|happy|nice|usable)`;
const POSITIVE = String.raw`(?:good|works?|worked|working|fine|great|nice|perfect|right|correct|better|ok|okay|yes|i (?:really )?(?:like|love) (?:it|this|that|the|how|your)|lgtm|works well|well done|excellent|awesome|cool|solid|does what|do what|happy)`;
/** "Good to know", "nice to meet you": greetings, not praise. */
const MANNERS = String.raw`(?! (?:to|morning|evening|afternoon|night|luck|question|point|news|idea|day|weekend|year|month|week|at|thing|now|away|after|before|there|side|late)\b)`;
const SMALL = String.raw`(?:small|minor|tiny|little|slight|cosmetic|quick)`;
const EXCEPT = String.raw`(?:except|apart from|aside from|other than|besides|save for)`;
const TOO = String.raw`(?:a (?:bit|little) )?too \w{1,20}`;

export const REJECTION_FAMILIES: Family[] = [
  {
    pattern: 'rejection_word',
    reports: [],
    words: [
      /^(?:(?:sorry|well|hm{2,8}|um{1,8}|uh|oh|ah|but|and|so|actually|ok|okay|please|thanks),? ){0,3}(?:no|nope|nah)(?!,? (?:thanks|thank you)[.!]?$|,? (?:everything|all|it|that|it's|that's|we|i)(?: is| are|'m| am)? (?:fine|good|ok|okay|right|great|happy|all good)\b|,? (?:way|kidding|doubt|that is all|that's all|go ahead|go on|nothing|none|not (?:needed|necessary|really|yet)|(?:keep|leave) it as|continue|proceed|carry on|you (?:can|may|could|don't)|i(?:'ve| have) (?:already|just)|that was (?:all|it|everything)|(?:it|that) (?:is|was)(?: all)? (?:fine|ok|okay|good|all|up|done|there|not (?:needed|necessary|urgent|important)))\b)(?=\s{0,8}(?:[,!…—–]|\.(?!\s{0,8}\d)|$)|: | [-—–] | (?:no|that|this|it|its|it's|that's|please|i|you|we|the|not|don't|use|keep|leave|never|wait|way|sorry)\b(?! (?:need|problem|worries|rush|hurry)))/gi,
      /^(?:(?:sorry|well|hm{2,8}|oh|but|still|again|completely|totally|all),? ){0,2}(?:wrong|incorrect)\b(?! (?:or right|vs))/gi,
      /\b(?:is|are|was|were|'s|'re|seems?|looks?|feels?|(?:got|did|do|done) (?:it|this|that|them)|all|still|just|plain|be|so|very) (?:\w{1,20}ly |all |just |still |plain |simply |quite |also ){0,2}(?:wrong|incorrect)\b/gi,
      /\b(?:you|you're|you've|your|it|this|that|that's|it's|is|are|was|were)(?: \w{1,20}){0,3} (?:the|a) wrong \w{1,30}\b(?! and (?:a|the) right)/gi,
      /\b(?:not|isn't|wasn't|aren't) (?:at all |really |quite |exactly |even )?(?:what|how|the \w{1,20}) (?:i|we)\b/gi,
      /\b(?:try|do|redo) (?:it |this |that )?(?:again|over|once more)\b(?! (?:later|tomorrow|in |after |next |soon|with sudo))/gi,
      /(?:^|\b(?:please|and|then|now|just|you|should|must|can|could|but) |[,;] )(?:redo|start (?:over|again)|undo|revert|roll (?:it |this |that )?back)\b/gi,
      /\bgive (?:it|this) another (?:try|go|shot)\b|(?:^|\b(?:please|and|then|to|should|must|could you|can you) |[,;] )(?:rewrite (?:it|this|that|everything)(?= ?[.,!]?$| from scratch| again| completely)|try (?:something else|(?:a |an)?(?:different|other|another) \w{1,20}))/gi,
      /(?:^|[,;—–-] ?|\b(?:but|no|sorry|hmm|think|afraid|well|nah|nope|ok|and) )(?:that's|that is|this is|thats) not (?:what (?!matters)|how|it\b|the (?!case|final|last|end)|right|correct|good|acceptable|helpful|even|at all|really|quite|working|an? (?!bad|mistake|problem|issue|test|drill|joke|question|big|bug|error|failure|blocker|concern|surprise|regression|priority|requirement|must)|true|enough|like|where|exactly|going to|ok|fine|useful|funny|supposed|possible|allowed)/gi,
      /\b(?:that|this|it) (?:isn't|wasn't|was not) (?:it|right|correct|good|acceptable|helpful|the|what|how)\b/gi,
      /\b(?:it's|it is|^)\s?not (?:right|correct|good enough|acceptable|helpful|it|this|like this|what)\b/gi,
      /\babsolutely not\b|\bi (?:reject|refuse|hate)\b(?! to\b)|\bi (?:don't|do not) (?:like|want) (?:it|this|that|these|those|the|any|an?|you to|your)\b|^rejected\b/gi,
    ],
  },
  {
    pattern: 'not_working',
    reports: [],
    words: [
      /\b(?:doesn't|does not|don't|do not|didn't|did not|won't|will not|can't|cannot|never|hasn't|has not) (?:\w{1,20} )?(?:work|worked|function)\b(?! for (?:money|free))/gi,
      /\b(?:not|isn't|aren't|stopped|wasn't|never) (?:\w{1,20}ly |yet |even )?working\b(?! (?:hours|days?|group))/gi,
      /\b(?:doesn't|isn't|won't|didn't) (?:it|this|that) (?:work|working)\b/gi,
      /\bstill (?:\w{1,20} )?broken\b|\bbroken (?:again|now)\b|\b(?:is|it's|are) (?:completely |totally |now )?broken\b|\bnothing works\b/gi,
      /\b(?:doesn't|does not|didn't|did not) (?:help|do what)\b/gi,
      /\bnothing (?:happens|happened|changed)\b/gi,
      /\bstill (?:not (?:working|right|correct|fixed|what|there|good|ok)|the same (?:problem|issue|bug))\b/gi,
    ],
  },
  {
    pattern: 'misunderstanding',
    reports: [],
    words: [
      /\b(?:completely|totally|entirely|absolutely|all|utterly|plain) (?:wrong|incorrect|useless|off)\b/gi,
      /\b(?:misunderst(?:ood|and|anding)|misread|misinterpret(?:ed|s)?|got me wrong)\b/gi,
      /\b(?:miss(?:ed|es|ing)?) the (?:whole |entire )?(?:point|mark)\b|\bbeside the point\b/gi,
      /\bnot even (?:close|remotely|near)\b|\bmakes? (?:absolutely )?no sense\b|\b(?:doesn't|does not) make (?:any )?sense\b/gi,
      /\bwrong (?:approach|problem|direction|idea|thing|question|place|file|function|answer|way round)\b/gi,
      /\b(?:ignored|disregarded|didn't follow|did not follow|didn't read|did not read|forgot) (?:all )?(?:(?:my|the|our) (?:\w{1,20} ){0,2}(?:and|or) )?(?:my|the|our) (?:instructions?|requirements?|question|message|request|constraints?|ticket|rules|guidelines)\b/gi,
      /\b(?:doesn't|does not|didn't|did not|don't|do not) (?:(?:answer|address|follow|match|meet|solve|fit) (?:my|our)|(?:answer|address|solve) the (?:question|problem|issue|task))\b/gi,
      /\b(?:not|wasn't|isn't) the (?:question|point|task|request)\b|\bnot what (?:i|we) (?:asked|meant|said|wanted)\b/gi,
      /\b(?:i|we) (?:never|didn't|did not) (?:ask(?:ed)? (?:for|you|to|that|about)|want(?:ed)? (?:it|this|that|you|an?|the)|request|requested|mean|meant)\b/gi,
      /\b(?:is|are|was|it's|that's|this|so|completely|totally) (?:\w{1,20} )?(?:useless|terrible|awful|unacceptable|not acceptable|nonsense|off topic|no good|follow our)\b|\b(?:does not|doesn't) follow our\b/gi,
      /(?<!\b(?:what|by|said|soon|") )(?<![a-z"], )\b(?:i|we) meant (?!it\b|well\b|that as\b|every|what\b)|(?:^|, )(?:but )?i (?:said|asked for|wanted)\b[^,.!?]{1,80}, (?:not|and not|without)\b|[,.] i said\b|\bi was asking (?:about|for|you)\b/gi,
    ],
  },
];

export const PARTIAL_FAMILIES: Family[] = [
  {
    pattern: 'nearly',
    reports: [],
    words: [
      new RegExp(
        String.raw`\b(?:almost|nearly|mostly) (?:(?:it|what|there|does)|(?!all|every|everyone|half|always|no )(?:\w{1,20} )?${JUDGED})\b`,
        'gi',
      ),
      /(?:^|[,:] ?|\b(?:ok|okay|yes|well),? )(?:almost|nearly|mostly|not quite)(?=\s{0,8}(?:[,.!:;…—–]|$|but\b))/gi,
      /\b(?:it|this|that|code|which) (?:almost|nearly|mostly) (?:works?|does|do|passes|fits|matches|looks?|gets?|got|runs?|solves?|meets?|is|has)\b/gi,
      /\bclose,? (?:but|though|only|just|except)\b|^(?:(?:very|so|pretty|really|quite|getting|that's|it's|this is|that is|it is|you're|you are) ){0,2}close(?=\s{0,8}(?:[,.!;…—–]|$))/gi,
      /\b(?:is|it's|that's|very|so|pretty|really) close(?=[,.!;]| to (?:what|perfect|done|right|finished))/gi,
      new RegExp(String.raw`\b${POSITIVE}\b[^\n]{0,120}\b${EXCEPT}\b`, 'gi'),
      /^except (?:for|that)\s{0,8}$/gi,
      new RegExp(
        String.raw`\b${EXCEPT}\b[^\n]{1,80}\b(?:good|fine|great|perfect|right|works|correct|exactly|i love|happy|what i want(?:ed)?)\b`,
        'gi',
      ),
      new RegExp(
        String.raw`\b(?:everything|all|rest)\b (?:\w{1,20} ){0,3}(?:works?|fine|good|right|correct|ok|great|perfect|passes)\b[^\n]{0,60}\b${EXCEPT}\b`,
        'gi',
      ),
      /\b(?:(?:half|most|part|some|much) of (?:it|this|that|them)|(?:half|most|some) of the \w{1,20}) (?:works?|(?:is|are) (?:good|fine|right|ok))\b(?! (?:was|were|by|in \d))/gi,
    ],
  },
  {
    pattern: 'small_change',
    reports: [],
    words: [
      /\bjust (?:needs? to|needs (?:a|an|some|one|the)|need (?:some|one|a (?:small|minor|tiny|quick|little)))\b(?! (?:wait|talk|meet|go|know|ask|check|understand|say|confirm|see|find|press|click|sign|run|open|type|enter|log|call|install|read|pay|restart|set)\b)/gi,
      /\b(?:just |only |but |with )?one (?:(?:more|small|last|minor|little|tiny|other|final) ){0,2}(?:thing|nit|detail|tweak|change|issue|problem|remark|correction|adjustment)(?: (?:though|missing|left|is (?:missing|off|wrong|left|still|not)|needs?|to (?:change|fix|add|adjust|improve)|remains|please)\b|\s{0,8}[:,.—–-]|$)/gi,
      /\b(?:just|only|there's|but) one (?:\w{1,20} )?(?:thing|nit|detail|tweak|change|issue|problem|edge case)\b(?! to (?:say|add|remember|know))/gi,
      new RegExp(
        String.raw`\b${SMALL} (?:\w{1,20} )?(?:changes?|tweaks?|adjustments?|fix(?:es)?|issues?|nits?|details?|things?|problems?|corrections?|edits?|improvements?|remarks?|typos?)(?=\s{0,8}(?:[:.,!;?—–-]|$)|\s(?:needed|please|required|left|remain\w{0,4}|and|to|with|in (?:section|line|the|chapter|paragraph)|on|though|but)\b)`,
        'gi',
      ),
      /\b(?:the |one )?only (?:thing|problem|issue|nit|complaint|remark)\b(?! (?:with|that matters|i know|we know))|\ba (?:few|couple of) (?:\w{1,20} )?(?:tweaks?|nits?|changes|adjustments|details|corrections)\b/gi,
      /(?:^|\s)nits?(?::|\b)/gi,
      /^just .{1,80}\band (?:it's|it is|we're|we are|then)\b|(?:[,;:.—–-] ?|\b(?:you|please|i'd|i would|could|should) )just (?:change|add|remove|rename|move|fix|make|swap|replace|shorten|drop|use|delete|tweak|adjust)\b/gi,
      /\b(?:one|a) (?:small |minor |tiny )?(?:adjustment|tweak)\b/gi,
    ],
  },
  {
    pattern: 'good_but',
    reports: [],
    words: [
      new RegExp(
        String.raw`\b${POSITIVE}\b${MANNERS}[^\n.!?]{0,80}\b(?:but(?! not (?:today|now|yet|tomorrow)| first\b| (?:i|we)(?:'ll|'d| will| would)? (?:choose|take|took|prefer|pick|picked|go with|chose)\b)|however|although|though|yet)\b`,
        'gi',
      ),
      new RegExp(String.raw`\b${POSITIVE}\b${MANNERS}[^\n.!?]{0,60}[,;:—–-] ?(?:only|just|still|except)\b`, 'gi'),
      new RegExp(String.raw`\b(?:fine|good|works?|great|perfect|ok|right|lgtm),? ${EXCEPT}\b`, 'gi'),
      new RegExp(
        String.raw`\b${POSITIVE}\b${MANNERS}[^\n.!?]{0,60}[,;:—–][^\n.!?]{1,60}\b(?:needs?|has to|have to|should|could be|is missing|are missing|is still|are still|is off|${TOO})\b`,
        'gi',
      ),
      /\bstill needs\b|\bstill need (?:work|some|more|an?|to be)\b|\bwe still need to (?:fix|change|adjust|tweak|move|rename|add|remove)\b|\b(?:good|great|nice|solid) start\b/gi,
    ],
  },
];
