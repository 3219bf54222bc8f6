/**
 * Patterns for what differs between two occurrences of one failure. Each is linear: its quantifiers are bounded or end
 * at a class that they exclude, and no match can start inside another.
 */
type Pattern = readonly [pattern: RegExp, placeholder: string];

export const UUID = /(?<![0-9A-Fa-f])[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}(?![0-9A-Fa-f])/g;
export const ISO_TIME =
  /(?<![\w.])(?:\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?|\d{8}T\d{4,6})(?: ?(?:Z|UTC|GMT)| ?[+-]\d{2}:?\d{2})?(?!\w)/g;
export const TIME_OF_DAY = /(?<![\w:.])\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?(?: ?[AaPp][Mm])?(?![\w:])/g;
const HOUR_AND_MINUTE = /(?<![\w:.])\d{1,2}:\d{2}(?: ?[AaPp][Mm])?(?![\w:])/g;
/** Seconds or milliseconds since 1970 for the years 2017 to 2033. */
const EPOCH = /(?<![\w.])(?:1[5-9]|20)\d{8}(?:\d{3})?(?:\.\d{1,9})?(?![\w.])/g;

const DAY = '(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? {1,2})?';
const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}';
const CLOCK =
  '(?:[ :T]\\d{1,2}:\\d{2}(?::\\d{2}(?:\\.\\d{1,9})?)?(?: ?(?:GMT|UTC|Z))?(?: ?[+-]\\d{2}:?\\d{2})?(?: \\([A-Za-z ]{3,40}\\))?)?';
const DAY_FIRST = new RegExp(`(?<!\\w)${DAY}\\d{1,2}[ /-]${MONTH}[ /-]\\d{4}${CLOCK}(?!\\w)`, 'g');
const MONTH_FIRST = new RegExp(`(?<!\\w)${DAY}${MONTH}\\.? {1,2}\\d{1,2}(?:,? \\d{4})?${CLOCK}(?!\\w)`, 'g');
const YEAR_FIRST = /(?<![\w.])\d{4}([-/])\d{1,2}\1\d{1,2}(?!\w)/g;
const YEAR_LAST = /(?<![\w.])\d{1,2}\/\d{1,2}\/\d{4}(?!\w)/g;

export const HEX = /(?<![A-Za-z0-9])[0-9A-Fa-f]{12,}(?![A-Za-z0-9])/g;
/** Memory addresses. `0x80070005` and `0xC0000005` do not match, because they are Windows error codes. */
const POINTER = /(?<!\w)0x(?![89Cc][0-9A-Fa-f]{7}(?!\w))[0-9A-Fa-f]{5,16}(?!\w)|(?<=[+@])0x[0-9A-Fa-f]{1,16}(?!\w)/g;

const IPV4 = /(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?(?!\.?\w)/g;
const IPV6 =
  /(?<![\w:.])(?:\[[0-9A-Fa-f:.]{2,45}(?:%\w{1,16})?\]|(?:[0-9A-Fa-f]{0,4}:){2,7}(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9A-Fa-f]{0,4})(?:%\w{1,16})?)(?::\d{1,5}|\d)?(?!\w)/g;

const NAMED_REQUEST_ID =
  /(?<!\w)((?:request|req|trace|span|correlation|transaction|invocation|session)[-_ ]?id|cf-ray|ray id|traceparent)(["']?)( ?[:=#]? ?)(["']?)([A-Za-z0-9+/=_.:-]{4,200})/gi;
const PREFIXED_REQUEST_ID =
  /(?<![A-Za-z0-9])(req|request|trace|span|corr|txn)([_-])(?=[A-Za-z]{0,40}\d)[A-Za-z0-9]{6,64}(?![A-Za-z0-9])/gi;
/** Ids such as `chatcmpl-9x8…` and `pi_3Mt…`: a short word, then at least 14 mixed letters and digits. */
const PREFIXED_ID =
  /(?<![A-Za-z0-9])([A-Za-z]{2,12})([_-])(?=[A-Za-z]{0,64}\d)(?=\d{0,64}[A-Za-z])[A-Za-z0-9]{14,64}(?![A-Za-z0-9])/g;

const UNIT = '(?:ns|us|µs|ms|s|m|h|d)';
const SPELT_UNIT =
  '(?:nanoseconds?|microseconds?|milliseconds?|millis|msecs?|secs?|seconds?|mins?|minutes?|hrs?|hours?|days?|ms|s)';
const DURATION = new RegExp(
  `(?<![\\w.])\\d{1,15}(?:\\.\\d{1,15})?(?:${UNIT}(?:\\d{1,9}(?:\\.\\d{1,9})?${UNIT}){0,4}| ?${SPELT_UNIT})(?!\\w)`,
  'g',
);

const COUNTER =
  /(?<!\w)(pid|ppid|tid|process|thread|goroutine|attempt|try|retry|port)( id)?([ :=#]{1,3})\d{1,20}(?!\w)/gi;
const POSITION =
  /(?<!\w)(lines?|ln|cols?|columns?|pos|position|offset|char|character|byte)([ :=#]{1,3})\d{1,12}(?:-\d{1,12})?(?!\w)/gi;
const PLACE_IN_PARENTHESES = /\(\d{1,9}[,:] ?\d{1,9}\)/g;
const INDEX_OR_PID = /\[\d{1,20}\]/g;
const ROW_OF_KEY = /\)=\([^)]{0,500}\)/g;
const ROW_IN_PARENTHESES = /\((id|row|pk|key)?([ =:#]{0,3})\d{1,20}\)/gi;

const NUMBER_AFTER_COLON = /(?<=[\w)\]>])(?::\d{1,7}){1,2}(?!\w)/g;
/** A number after one of these words says what went wrong, so it stays. */
const SAYS_WHAT = /(?:code|status|errno|error|exit|signal|http|version)[ :]?$/i;

/** `[5]` is an index and `a::b` is a name. An IPv6 address has two colons and a digit. */
const isIpv6 = (text: string): boolean => /:.*:/.test(text) && /\d|^::/.test(text);

export const replaceRequestIds = (line: string): string =>
  line
    .replace(NAMED_REQUEST_ID, (all, name: string, closing: string, gap: string, quote: string, id: string) =>
      /[:=#]/.test(gap) || /\d/.test(id) ? `${name}${closing}${gap}${quote}<request>` : all,
    )
    .replace(PREFIXED_REQUEST_ID, '$1$2<request>')
    .replace(PREFIXED_ID, '$1$2<id>');

const TIMES: readonly Pattern[] = [
  [ISO_TIME, '<time>'],
  [DAY_FIRST, '<time>'],
  [MONTH_FIRST, '<time>'],
  [YEAR_FIRST, '<date>'],
  [YEAR_LAST, '<date>'],
  [TIME_OF_DAY, '<time>'],
  [HOUR_AND_MINUTE, '<time>'],
  [EPOCH, '<time>'],
];
const IDS_AND_POINTERS: readonly Pattern[] = [
  [HEX, '<hex>'],
  [POINTER, '<addr>'],
];
const NUMBERS: readonly Pattern[] = [
  [DURATION, '<duration>'],
  [COUNTER, '$1$2$3<n>'],
  [POSITION, '$1$2<n>'],
  [PLACE_IN_PARENTHESES, '(<n>)'],
  [INDEX_OR_PID, '[<n>]'],
  [ROW_OF_KEY, ')=(<row>)'],
];

const replaceAll = (line: string, patterns: readonly Pattern[]): string =>
  patterns.reduce((text, [pattern, placeholder]) => text.replace(pattern, placeholder), line);

const replaceWhere = (line: string, pattern: RegExp, placeholder: string): string =>
  line.replace(pattern, (match, ...rest) => {
    const offset = rest.find((part): part is number => typeof part === 'number') ?? 0;
    return SAYS_WHAT.test(line.slice(Math.max(0, offset - 10), offset)) ? match : placeholder;
  });

/** Replaces UUIDs, times, hex, addresses, ports, durations, positions, pids and row ids with placeholders. */
export const replaceVolatileParts = (line: string): string => {
  const dated = replaceAll(line.replace(UUID, '<uuid>'), TIMES);
  const addressed = replaceAll(dated, IDS_AND_POINTERS)
    .replace(IPV6, (text) => (isIpv6(text) ? '<addr>' : text))
    .replace(IPV4, '<addr>');
  const placed = replaceAll(addressed, NUMBERS);
  return replaceWhere(replaceWhere(placed, ROW_IN_PARENTHESES, '(<row>)'), NUMBER_AFTER_COLON, ':<n>');
};
