/**
 * Names that say that their value is a secret, in any case and with any prefix: `DB_PASSWORD`, `clientSecret`,
 * `x-api-key`. A page token is not a secret, so a bare `token` counts only as a whole name.
 */
const PASSWORD =
  'pass(?:word|wd|phrase|code)|(?<![a-z])pwd|(?<=db_|pg|mysql_|redis_|smtp_|ftp_|admin_|user_|root_)pass';
const SECRET = 'secret(?:[_-]?access)?(?:[_-]?key)?';
const KEYS =
  'api|access|private|account|encryption|signing|master|license|subscription|storage|auth|admin|deploy|consumer|jwt|hmac|routing|integration|application|dd[_-]app';
const TOKENS =
  'access|api|app|auth|bearer|bot|ci|csrf|xsrf|deploy|dev|github|gitlab|hub|id|identity|jwt|npm|oauth|personal|private|refresh|registry|robot|sas|secondwind|security|service|session|user|vault|verification|webhook|slack|discord|telegram|cloudflare|heroku|netlify|vercel|digitalocean|sentry|pagerduty|datadog|snyk|sonar|codecov|buildkite|circle|travis|railway';
const REST = 'credentials?|connection[_-]?string|_auth(?![a-z])|sessionid';
/**
 * As source of a pattern that ignores case. It matches at the words below, which are what can be searched for quickly; what
 * has to stand before them is looked at backwards.
 */
export const SECRET_NAME = `(?:${PASSWORD}|${SECRET}|(?<=(?:${KEYS})[_-]?)key(?:_id)?|(?<=(?:${TOKENS})[_-]?|(?<![a-z0-9_-]))token|${REST})`;
/** At each match of `SECRET_NAME` one of these stands, in lower case. */
export const NAME_ANCHORS: readonly string[] = [
  'pass',
  'pwd',
  'secret',
  'key',
  'token',
  'credential',
  'connection',
  '_auth',
  'sessionid',
];

const MEMBER = new RegExp(`${SECRET_NAME}$`, 'i');
/** Whether the name of a member of an object says that what stands there is a secret. */
export const isSecretName = (name: string): boolean => name.length <= 100 && MEMBER.test(name);

const EMPTY_FORM = /^(?:x{3,}|\*{3,}|\.{3,}|…|-{3,}|_{3,})$|^(?:<|\$|%[A-Z_]|\{|\[redacted|process\.env|import\.meta)/i;
const IN_WORDS = /^[A-Za-z_.\-/ ]{1,100}$/;
const EXAMPLE_WORD =
  /^(?:your|my|the|some|test|dummy|fake|sample|example|mock|foo|placeholder|changeme|change|replace|insert|enter|todo|none|null|undefined|true|false|string|number|boolean|object|required|optional|redacted|hidden|masked|this|self|options|props|config|req|ctx|args|params|env|os)(?:$|[-_. /])/i;
const NAMES_ITSELF = /pass(?:word|wd|phrase)|secret|token|(?:api|access|private)[_-]?key|credential/i;

/** Whether the value stands for a secret in a template, a type or an example, and is not one. */
export const isPlaceholder = (value: string): boolean =>
  EMPTY_FORM.test(value) || (IN_WORDS.test(value) && (EXAMPLE_WORD.test(value) || NAMES_ITSELF.test(value)));
