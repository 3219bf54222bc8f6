import type { Family } from './patterns.ts';

/** Code or a command stopped with an error. */
export const RUNTIME_FAMILIES: Family[] = [
  {
    pattern: 'error_word',
    reports: [
      // `TypeError: x`, `java.lang.IllegalStateException: x`, `error: x`, `fatal: x`, `panic: x`, `ERROR:  x`
      /(?:^|[\s:([>"'])(?:[\w$.]{0,80}(?:Error|Exception)|error|ERROR|fatal|FATAL|panic|PANIC)(?: \[\w{1,40}\])?: {0,4}(?!\s{0,8}(?:0|null|none|undefined|false|nil|unknown|string|any|Error|If|When|Raised|Thrown|''|""|\[\])\b)\S/,
      /^\s{0,8}(?:Uncaught |Unhandled |Exception in thread .{1,80} )(?:[\w$.]{1,80})?(?:Error|Exception)\s{0,8}$|^[a-z][\w$]{0,40}\.[\w$.]{1,80}(?:Error|Exception)\s{0,8}$/,
      /(?:^|\s)(?:\[error\]|\[fatal\]|level=(?:error|fatal))/i,
      /^(?:\S{1,40}\s{1,10}){0,3}(?:ERROR|FATAL|CRITICAL|SEVERE)(?:[\s:]|$)(?!\s{0,8}(?:(?:0|none|SUMMARY)\b|[=|]))/,
      /\bTraceback \(most recent call last\)/,
      /^\s{1,12}at .{1,300}:\d{1,9}:\d{1,9}\)?$|^\s{1,8}at [\w$.]{1,200}\([\w$]{1,100}\.java:\d{1,9}\)$/,
      /\b(?:Uncaught|Unhandled|Caused by:|terminate called)\b/,
      /\bpanicked at\b|\bgoroutine \d{1,9} \[/,
      /\bSegmentation fault\b|\bcore dumped\b|(?:\b(?:signal|killed|terminated|received|exited|stopped|died|by|with|code)[: (]{1,3}|^\W{0,4})SIG(?:SEGV|ABRT|KILL|BUS|FPE|ILL)\b|\bBus error\b/,
      /^(?:\S{1,200}: )?(?:line \d{1,9}: {1,8}\d{1,9} )?(?:Aborted|Killed|Terminated)\b/,
      /\bdouble free\b|\bAddressSanitizer\b|\bheap-(?:buffer-overflow|use-after-free)\b/,
      // Messages of the operating system.
      /\b(?:No such file or directory|Permission denied|No space left on device|Too many open files|Broken pipe|Argument list too long|Exec format error|No such process|Read-only file system|Cannot allocate memory|Device or resource busy|Input\/output error)\b/i,
      /(?:^|: |\] |["'(])(?:Is a directory|Not a directory|File exists|Directory not empty|Operation not permitted)\b/i,
      /\b(?:Connection (?:refused|reset|timed out|closed (?:by|unexpectedly))|Network is unreachable|No route to host|Could not resolve host|Temporary failure in name resolution|timed out after)\b/i,
      /(?:^|[^.\w])E(?:CONNREFUSED|CONNRESET|NOENT|ACCES|PERM|PIPE|TIMEDOUT|ADDRINUSE|NOTFOUND|AI_AGAIN|NOSPC|ISDIR|EXIST|HOSTUNREACH)\b(?!['"],? ?['"\]])/,
      /^\S{1,60}: (?:line )?(?:\S{1,60}: ){0,3}(?:command )?not found\b/,
      /^\S{1,200}: {1,4}(?:[^:]{1,120}: {1,4}){0,2}(?:cannot|can't|could not|couldn't|unable to|failed to|invalid|illegal|unrecognized|unknown|unterminated|unexpected|missing|no such|no module|not in|bad|is not)\b {1,4}\S/i,
      /^(?:\S{1,60}: )?\S{1,80} is not an? (?:\w{1,20} ){0,2}(?:file|command|repository|directory|archive|key|executable)\b/i,
      /^(?:cannot|could not|unable to|failed to) (?!be |agree|wait|complain|reproduce|confirm|think|imagine|say|recall|remember|stress|thank|recommend|find any|see any|tell)\w/i,
      /^(?:Unknown|Invalid|Unrecognized|No such) (?:option|command|argument|flag|subcommand|syntax|input|value|host|database|file|container|image|key|token|module)\b/,
      /\bCONFLICT \(|\bAutomatic merge failed\b|^(?:hunk|\d{1,6} out of \d{1,6} hunks?) .{0,40}\bFAILED\b/i,
      /^npm (?:ERR!|error)\s/,
      // A program's error message: its name, a colon, and what is missing.
      /^(?!(?:note|info|notice|warning|debug|hint|help|warn)\b)[a-z][\w.+/-]{0,60}: (?:[^:]{1,60}: ){0,3}.{0,160}\b(?:does not exist|not found|by zero|must (?:be|specify|have)|(?:is|are) required|expected|specified|not (?:supported|allowed|permitted)|denied|unavailable|already exists|too (?:many|few|long|large)|out of range)\b/,
      /^Try '.{1,80}--help' for more information|\bsomething went wrong\b|^Died at \S|\bat \S{1,200} line \d{1,9}\.$/i,
      /\bout of memory\b|\bOOMKilled\b|\b(?:CrashLoop|ImagePull)BackOff\b|\bErrImagePull\b/i,
      / \(\w{1,60}(?:Error|Exception)\)$|^\w{1,60}(?:Error|Exception) \(|^Error\b.{0,60}: \S/,
      // An API's answer.
      /"errors?"\s{0,4}:\s{0,4}(?:"[^"]|\{\s{0,4}"|\[\s{0,4}[{"])|"(?:status|state|result|outcome)"\s{0,4}:\s{0,4}"(?:failed|failure|error)"/i,
    ],
    words: [
      // A name like TypeError counts if the text says that it happened; a list of names does not.
      /\b(?:an?|the|with|throws?|threw|got|gets?|raises?|raised|unhandled|uncaught|this|another|same) \w{0,40}[a-z](?:Error|Exception)s?\b/gi,
      /^\w{0,40}[a-z](?:Error|Exception)\b(?= (?:in|at|on|when|while|after|from|again)\b)/g,
      /\berr(?:or(?:s|ed|ing)?|s)\b/gi,
      /\bexceptions?\b/gi,
      /\bfail(?:ed|s|ing|ures?)\b/gi,
      /\bcrash(?:ed|es|ing)?\b/gi,
      /(?:\bnot|n't) (?:fix(?:ed)?|resolved?|solved?) (?:\w{1,20} ){0,3}(?:crash|error|exception|failure)s?\b/gi,
      /\b(?:crash|error|exception|failure)s? (?:is|are|was) (?:still )?not (?:fixed|gone|resolved|solved)\b/gi,
      /\b(?:why|how come) (?:does|did|do|is|are) [\w' -]{1,60}\bfail\b/gi,
      /\b(?:tracebacks?|stack ?traces?|seg(?:mentation)? ?faults?|segfaulted|core dumps?|panic(?:s|ked|king)?)\b/gi,
    ],
  },
  {
    pattern: 'exit_status',
    reports: [],
    words: [
      /\bexit(?:s|ed)? (?:with )?(?:a )?(?:code|status)(?: of|:)? ?-?[1-9]\d{0,9}\b/gi,
      /\b(?:exit(?:ed|s)?|returned|finished|died|quit|terminated|failed|ended|stopped) with (?:an? )?(?:exit )?(?:code|status)(?: of|:)? ?-?[1-9]\d{0,9}\b/gi,
      /\bexit_?(?:code|status)["']?\s?[:=]\s?-?[1-9]\d{0,9}\b/gi,
      /\b(?:status|code) (?:[1-9]\d?|1\d\d)\b(?=[.,]?$)/gi,
      /\bnon-?zero (?:exit|status|return|code)\b/gi,
      /\bcommand (?:has )?failed\b/gi,
      /\bHTTP\/[\d.]{1,3} [45]\d\d\b/g,
      /\b5\d\d (?:Internal Server Error|Bad Gateway|Service Unavailable|Gateway Time-?out)\b/gi,
    ],
  },
  {
    pattern: 'error_kind',
    reports: [
      /\b(?:Type|Syntax|Reference|Range|Key|Value|Attribute|Index|Name|Import|ModuleNotFound|ZeroDivision|FileNotFound|Permission|Recursion|Unicode\w{0,10}|Indentation|JSONDecode|Runtime|OS|Connection|Timeout)(?:Error|Exception)\b: {0,4}\S/,
      /\bNullPointerException\b|\bnil pointer dereference\b|\binvalid memory address\b|\bindex out of (?:range|bounds)\b/,
      /(?:^\s{0,20}|: |["'`(>])[\w$.[\]'"`()]{1,80} is not (?:defined|a function|iterable|a constructor)\b|\bCannot (?:read|set) propert(?:y|ies) of\b/,
      /\bUnexpected (?:token|end of (?:JSON )?input|identifier|EOF)\b/i,
      /\b(?:syntax|parse) error(?: at| near|:| \()/i,
    ],
    words: [
      /\bundefined is not\b|\b(?:is|was|returns?|returned|gives|gave|prints?|printed|says|got|printing|shows) (?!no |not )(?:\w{1,20} )?undefined\b|^undefined[.!]?$/gi,
      /\bnull[ -]?pointers?\b/gi,
      /\b(?:type|syntax|reference|range|key|name|index|import|runtime|attribute|time-?out|memory|network|permission) errors?\b/gi,
    ],
  },
];
