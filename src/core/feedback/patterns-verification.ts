import type { Family } from './patterns.ts';

/** A value as tools and people write it in assertions: a number, a quoted text, a bracket, a literal. */
const VALUE = String.raw`(?:-?\d|["'\`\[{<]|\b(?:true|false|null|undefined|none|nil|NaN|empty)\b)`;
const TO_VERB = String.raw`to (?:not )?(?:be|equal|deeply|strictly|match|contain|have|include|throw|return|start|end|satisfy|resolve|reject|exist|eql?)`;
const NOT_A_PERSON = String.raw`(?!(?:you|him|her|them|us|me|people|everyone|everybody|nobody|my|our|your) )`;

/** Failures of tests, builds, linters, type checks and validators. */
export const VERIFICATION_FAMILIES: Family[] = [
  {
    pattern: 'test_result',
    reports: [
      /^\s{0,20}(?:FAIL|FAILED|FAILURE|FAILURES)(?:[:\s!]|$)|^> Task :\S{1,100} FAILED$/,
      /^\s{0,20}--- FAIL\b|^\s{0,20}not ok \d/,
      /^\s{0,20}[✕✗×✘✖] (?!\d{1,9} problems? \(0 errors)\S/,
      /^\s{0,20}(?:[ℹ#] )?fail [1-9]\d{0,8}\s{0,8}$/,
      /\b[1-9]\d{0,8} (?:tests? |specs? |examples? |suites? )?(?:failed|failing)\b.{0,60}\b\d{1,9} (?:tests? )?(?:passed|passing|total|skipped|ignored)\b/i,
      /\b\d{1,9} (?:tests? )?(?:passed|passing)\b.{0,60}\b[1-9]\d{0,8} (?:tests? )?(?:failed|failing|errors?)\b/i,
      /\b(?:Tests?|Test Files|Test Suites?|Snapshots?):? {1,20}[1-9]\d{0,8} failed\b/,
      /\(\d{1,9} tests? \| [1-9]\d{0,8} failed\b/,
      /^={2,80} .{0,200}\b[1-9]\d{0,8} (?:failed|errors?)\b.{0,200}={2,80}$|^[1-9]\d{0,8} (?:failed|errors?)(?:,.{0,80})? in [\d.]{1,12}s/,
      /^\s{0,20}[1-9]\d{0,8} (?:fail|failing|failed|tests? failed|failures?)\s{0,8}$/,
      /\bTests(?: run)?: \d{1,9}.{0,60}\b(?:Failures|Errors|Failed): [1-9]/i,
      /\b\d{1,9} (?:examples?|tests?|runs|specs?), (?:\d{1,9} assertions?, )?[1-9]\d{0,8} (?:failures?|failed|errors?)\b/,
      /\b[1-9]\d{0,8} of \d{1,9} (?:tests? )?failed\b/,
      /\btest result: FAILED\b|\bFAILED \((?:failures|errors)=\d|\*{3}Test Failed\*{3}/,
      /^test \S{1,200} \.\.\. FAILED$|^\S{1,200} (?:FAILED|ERROR)(?: {1,80}\[ {0,3}\d{1,3}%\])?$/,
      /^(?:FAILED|ERROR) \S{1,200}(?:::\S{1,200})?(?: - |$)/,
      /^(?:ERROR|FAIL): (?:test\w{0,80} \(|\S{1,120}\(\S)/,
      /(?:^\s{0,20}|[^,\s]\s|\.)AssertionError(?: \[\w{1,40}\])?(?::|\s{0,8}$)|\bERR_ASSERTION\b|\bassertion .{0,200}\bfailed\b|\bassertion failed\b|\bstatic assertion failed\b/i,
      /^E {3,8}assert\b/,
      /^\s{0,20}(?:Expected|expected)(?: value)?: {0,8}\S|^\s{0,20}(?:Received|Actual)(?: value)?: {0,8}\S.{0,200}$/,
      /\bexpect\((?:received|\w{1,40})\)\.\w{1,40}/,
      /\bTest suite failed to run\b|\bNo tests? (?:files? )?found\b/,
    ],
    words: [
      /\b(?:tests?|test ?suites?|specs?|test[-_ ]?cases?|test_\w{1,80})(?: [\w"'`./:()-]{1,60}){0,6} (?:(?:is|are|was|were|keeps?|still) ){0,2}fail(?:ed|s|ing|ures?)?\b/gi,
      /\b(?:fail(?:ed|ing)|broken|red) (?:(?:unit|integration|e2e|snapshot|regression|smoke|\d{1,6}) )?(?:tests?|specs?|checks?)\b/gi,
      /\b(?:tests?|specs?|checks?|suite) (?:still )?(?:do not|don't|does not|doesn't|did not|didn't|won't|are not|aren't|is not|isn't|never|no longer|not) (?:\w{1,20} )?pass(?:ed|ing)?\b|\b(?:tests?|specs?) (?:is|are) (?:still )?(?:red|broken)\b/gi,
      /\b(?:does not|doesn't|do not|don't|did not|didn't|won't) pass (?:\w{1,20} ){0,3}(?:tests?|checks?|specs?|validation|CI|lint|review)\b/gi,
      /\b(?:tests?|specs?|checks?)\b,? (?:but )?they (?:all |are |keep |still |now ){0,2}(?:fail(?:ing|ed)?|red|broken)\b/gi,
      /\btests? failures?\b|\bfails? (?:the |\d{1,6} |some |most |all |our )?(?:\w{1,20} )?tests?\b|\bbr(?:eaks?|oke) (?:\w{1,20} ){0,3}(?:tests?|specs?|suite)\b/gi,
      /\bassertions? (?:[\w"'`.:]{1,40} ){0,5}fail(?:ed|s|ing|ures?)?\b|\bassertion ?errors?\b/gi,
      new RegExp(String.raw`\bexpect(?:ed|s)? ${NOT_A_PERSON}(?=[^\n]{0,200}${VALUE})[^\n]{1,160}\b${TO_VERB}\b`, 'gi'),
      new RegExp(
        String.raw`\bexpect(?:ed|s)?:? (?!and |or )[^\n]{1,120}(?: but (?:\w{1,20} )?(?:got|received|found|saw|actual|(?:was|is) (?=[^\n]{0,20}${VALUE}))|,? (?:got|received|actual))\b:? ?[^\n]{0,20}`,
        'gi',
      ),
      new RegExp(
        String.raw`\bshould (?=[^\n]{0,200}${VALUE})[^\n]{1,120}\bbut(?: (?:it|this|that|the|its|actually|instead|only|now|always|still|really|just|value|result|output|response|total|status|function|test|code|answer)){0,4} (?:(?:i|we) (?=got|get|see|saw|received))?(?:see|saw|is|are|was|were|got|gets?|returns?|returned|gives?|gave|shows?|showed|has|had|receives?|received|equals?|prints?|printed|says|said)\b`,
        'gi',
      ),
      /\bexpected:? (?!and |or |vs|versus).{1,80}\bactual(?:ly)?:? /gi,
      /\b(?:CI|pipeline|checks?) (?:is |are |has |have |was )?(?:red|failed|fails|failing|broken)\b/gi,
    ],
  },
  {
    pattern: 'validation',
    reports: [
      /\berror (?:TS|CS|MSB|LNK|NETSDK|FS|C)\d{3,6}\b/,
      /\b(?:\w{0,30}ValidationError|ZodError|SchemaError): |\b\d{1,6} validation errors? for\b/,
      /^\S{1,200}\.(?:json|ya?ml|xml|toml) (?:is )?invalid$/i,
      /\b(?:computed checksums? did NOT match|checksum mismatch)\b|^\S{1,200}: FAILED$/i,
      /^\s{0,4}(?:│ {1,4})?on \S{1,200}\.tf line \d/,
      /^Found [1-9]\d{0,8} (?:errors?|issues?|problems?)\b/,
      /\bmust (?:have required property|match (?:pattern|format|exactly one schema)|NOT have additional properties)\b/,
    ],
    words: [
      /\bvalidation (?:\w{1,20} )?(?:errors?|fail(?:ed|s|ures?|ing)?)\b/gi,
      /\bfail(?:ed|s)? (?:the )?(?:schema |input |output )?validation\b/gi,
      /\bschema (?:mismatch(?:es)?|violations?|errors?)\b|\b(?:does not|doesn't|did not|didn't) match the schema\b/gi,
      /\b(?:type|format|syntax|style|lint|spell|whitespace|quality|sanity) ?-?check(?:s|ing|er)? (?:has |have |is |are )?(?:fail(?:ed|s|ing|ures?)|complain(?:s|ing|ed)|errors?)\b/gi,
      /\b(?:eslint|oxlint|biome|tsc|mypy|pyright|ruff|flake8|pylint|typescript|clippy|[\w-]{1,30}-check)(?: has)? (?:found|finds|reports|reported|shows) (?:[1-9]\d{0,8}|some|several|many) (?:\w{1,20} )?(?:errors?|problems?|issues?|violations?)\b/gi,
      /\b(?:type ?checker|linter|compiler) (?:finds|found|shows) (?:[1-9]\d{0,8}|some|several|many) (?:\w{1,20} )?(?:errors?|problems?|issues?)\b|\b(?:type ?checker|linter|compiler) (?:is |still )?(?:report(?:s|ed)|complain(?:s|ing|ed)|rejects)\b/gi,
    ],
  },
  {
    pattern: 'build',
    reports: [
      // `main.c:1:25: error:`, `Main.java:1: error:`, `a.py:2: error:` and a linter's `a.py:1:1: F401`
      /^\s{0,8}[^\s:]{1,300}:\d{1,9}:(?:\d{1,9}:)? (?:fatal )?error:/,
      /^\S{1,300}\.(?:py|pyi):\d{1,9}:\d{1,9}: [A-Z]{1,3}\d{3,5}\b/,
      /^(?:vet: )?\.{0,2}\/?[\w./-]{1,300}\.go:\d{1,9}:\d{1,9}: \S/,
      /^\s{0,8}error(?:\[E\d{4}\])?: (?:could not compile|aborting due to|expected|mismatched|cannot find|linking with)/,
      /^error\[[A-Z]\d{3,5}\]/,
      /^\s{1,8}\d{1,9}:\d{1,9}\s{1,12}error\s/,
      /[✖✗×] [1-9]\d{0,8} problems? \([1-9]/,
      /\bFound \d{1,9} warnings? and [1-9]\d{0,8} errors?\b|\bOh no! /,
      /^\s{0,4}[✘✗×] \[ERROR\]/,
      /\b(?:could not compile|failed to compile|compilation (?:failed|terminated|aborted)|undefined reference to|ld returned 1|collect2: error|aborting due to)\b/i,
      /^(?:g?make|ninja)(?:\[\d{1,3}\])?: \*{3} |^ninja: build stopped|^CMake Error\b/,
      /\bBUILD (?:FAILED|FAILURE)\b|\[build failed\]|\bBuild failed (?:in|with)\b|\bCompilation failed\b/,
      /\b\d{1,9} files? would be reformatted\b|^would reformat \S|\bCode style issues (?:were )?found\b/,
      /^[1-9]\d{0,8} errors?(?: generated\.?)?$/,
      /^ERROR in \S/,
      /\bRollup failed to resolve\b|\bCould not resolve "/,
    ],
    words: [
      /\bbuilds? (?:\w{1,20} )?(?:(?:is|are|was|keeps?|still|has|been) ){0,2}(?:fail(?:ed|s|ing|ures?)?|broken|broke|red)\b/gi,
      /\bbreaks? the build\b|\bbroke the build\b|\bbroken builds?\b|\bfailed builds?\b/gi,
      /\bcompil(?:e|ation|er) (?:time )?(?:errors?|fail(?:ed|s|ures?|ing))\b/gi,
      /\b(?:does not|doesn't|did not|didn't|won't|will not|fails? to|failed to|can't|cannot) (?:even |type-?check and )?compile\b/gi,
      /\blint(?:er|ing)? (?:step |check )?(?:errors?|fail(?:ed|s|ures?|ing)?|problems?)\b/gi,
    ],
  },
];
