import { hasDigitAndLetter, type Rule } from './rule.ts';
import { isPlaceholder, NAME_ANCHORS, SECRET_NAME } from './secret-names.ts';

const isWord = (value: string): boolean => /^[A-Za-z]{1,40}$/.test(value);
/** A path through an object, a call or a constant, as code has on the right side of an assignment. */
const isCode = (value: string): boolean =>
  /^[A-Za-z_$][A-Za-z0-9_$]{0,80}(?:\??\.[A-Za-z_$][A-Za-z0-9_$]{0,80}){1,8}$/.test(value) || /[(){}<>|]/.test(value);
const isPath = (value: string): boolean => /^(?:[~.]{0,2}\/|[A-Za-z]:\\)/.test(value);

/** Shorter ones need a digit: many words of six letters stand beside such names. */
const isLong = (value: string): boolean => value.length >= 8 || /[0-9]/.test(value);

const isQuotedSecret = (value: string): boolean =>
  isLong(value) && !isPlaceholder(value) && !isPath(value) && !isWord(value);
const isBareSecret = (value: string): boolean =>
  isLong(value) && !isPlaceholder(value) && !isPath(value) && !isCode(value);
const TYPE_OR_ADDRESS =
  /^(?:(?:Uint|Int|Float|BigInt|BigUint)[0-9]{1,2}(?:Clamped)?Array|[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?:\/[0-9]{1,2})?)$/;
const isYamlSecret = (value: string): boolean =>
  isBareSecret(value) && /[0-9!@#%^*+=/~?-]/.test(value) && !TYPE_OR_ADDRESS.test(value);

const named = (about: string, rest: string, accept: Rule['accept'], name = 'assignment'): Rule => ({
  name,
  about,
  anchors: NAME_ANCHORS,
  ignoreCase: true,
  pattern: new RegExp(`(${SECRET_NAME}${rest}`, 'iy'),
  ...(accept && { accept }),
});

const isSchema = (value: string): boolean => /["']?(?:type|\$ref|description)\\{0,3}["']?\s{0,3}:/.test(value);

/** Secrets that the name before them gives away. They are tried wherever an anchor stands. */
export const NAMED_RULES: readonly Rule[] = [
  named(
    'A quoted value beside a name such as `password`, `clientSecret`, `api_key`, `_authToken`',
    String.raw`\\{0,3}["'${'`'}]?\]?\s{0,3}(?:=>|:=|[:=])\s{0,3}\\{0,3}["'${'`'}])([^\s"'${'`'}\\]{6,500})`,
    isQuotedSecret,
  ),
  named(
    'The same without quotes and spaces: `PGPASSWORD=…`, `?access_token=…`, `Password=…;`',
    String.raw`\\{0,3}["'${'`'}]?=)([^\s"'${'`'},;&\\]{6,500})`,
    isBareSecret,
  ),
  named(
    'The same as YAML and headers have it: `password: …`, `X-API-Key: …`',
    String.raw`:[ \t]{1,3})([^\s"'${'`'},;&\\]{6,500})(?=[\s\\"'${'`'},;]|$)`,
    isYamlSecret,
  ),
  named(
    'The same as a line of an INI file: `password = …`',
    String.raw`[ \t]{1,3}=[ \t]{1,3})([^\s"'${'`'},;&\\]{6,500})(?=[ \t]{0,20}(?:[\r\n"'\\]|$))`,
    isYamlSecret,
  ),
  named(
    'The same where lines were joined to one: `password = … next = …`, if the value is long and mixes letters and digits',
    String.raw`[ \t]{1,3}=[ \t]{1,3})([A-Za-z0-9+/_=.~-]{16,500})(?=[ \t])`,
    (value) => isYamlSecret(value) && /[0-9]/.test(value) && /[A-Za-z]/.test(value),
  ),
  named(
    'The members of an object under such a name: `{"password": {"value": …}}`',
    String.raw`\\{0,3}["']\s{0,3}:\s{0,3})([{[][^{}[\]]{1,2000}[}\]])`,
    (value) => /["']/.test(value) && !isSchema(value) && !value.includes('[redacted') && !value.includes('…'),
    'nested',
  ),
];

const SCHEME = /(?:basic|bearer|token|digest|negotiate|apikey|bot|key|sha256)\s{1,3}(?:token=)?\\{0,3}["']?$/i;
const EXACT_PLACEHOLDER = /^(?:pass|passwd|password|pwd|pw|secret|x+|\*+|\.{3}|…|:?\d{1,5})$/i;
const isUrlPassword = (value: string): boolean =>
  !EXACT_PLACEHOLDER.test(value) && !/^(?:\$|<|\{|%[A-Z_]|\[redacted)/.test(value);

/** Secrets that what stands around them gives away. */
export const CONTEXT_RULES: readonly Rule[] = [
  {
    name: 'authorization',
    about: 'An `Authorization` or `Proxy-Authorization` header, with any scheme and in any case',
    anchors: ['authorization'],
    ignoreCase: true,
    pattern:
      /(authorization\\{0,3}["']?\]?\s{0,3}[:=]\s{0,3}\\{0,3}["'`]?(?:(?:basic|bearer|token|digest|negotiate|apikey|bot|key|aws4-hmac-sha256)\s{1,3}(?:token=)?\\{0,3}["']?)?)([A-Za-z0-9._~+/=:-]{12,4000})/gi,
    accept: (value, before) => !isPlaceholder(value) && !isWord(value) && (SCHEME.test(before) || !isCode(value)),
  },
  {
    name: 'bearer',
    about: 'A bearer token, in any case',
    anchors: ['bearer'],
    ignoreCase: true,
    pattern: /(?:\b|(?<=\\[nrt]))(bearer\s{1,10})([A-Za-z0-9._~+/=-]{16,4000})/gi,
    accept: (value) => !isPlaceholder(value) && (hasDigitAndLetter(value) || /^[A-Za-z0-9+/=]{20,}$/.test(value)),
  },
  {
    name: 'basic',
    about: 'Basic credentials, in any case',
    anchors: ['basic'],
    ignoreCase: true,
    pattern: /(?:\b|(?<=\\[nrt]))(basic\s{1,10})([A-Za-z0-9+/_-]{8,4000}={0,2})(?![A-Za-z0-9])/gi,
    accept: (value) =>
      value.endsWith('=') || (value.length >= 12 && /[0-9]/.test(value) && /[a-z]/.test(value) && /[A-Z]/.test(value)),
  },
  {
    name: 'url_password',
    about:
      'The password in the address of a database or queue, with an empty user or odd characters too: `redis://:…@host`',
    anchors: ['://'],
    pattern:
      /(?:\b|(?<=\\[nrt]))((?:postgres(?:ql)?|mysql|mariadb|mongodb(?:\+srv)?|rediss?|amqps?|mssql|sqlserver|clickhouse|cockroachdb|ldaps?|smtps?|ftps?|sftp|nats|mqtts?):\/\/[^\s/:@'"`<>[]{0,100}:)([^\s'"`<>]{1,300})(?=@[A-Za-z0-9[$%{_-])/gi,
    accept: (value) => isUrlPassword(value) && !/^[0-9]{1,5}\//.test(value),
  },
  {
    name: 'url_password',
    about: 'The password in any other address: `https://user:…@host`',
    anchors: ['://'],
    pattern:
      /(?:\b|(?<=\\[nrt]))([a-z][a-z0-9+.-]{1,30}:\/\/[^\s/:@'"`<>[]{0,100}:)([^\s/'"`<>?#]{1,300})(?=@[A-Za-z0-9[$%{_-])/gi,
    accept: isUrlPassword,
  },
  {
    name: 'url_token',
    about: 'A token in place of a user name: `https://…@github.com`',
    anchors: ['://'],
    pattern: /(?:\b|(?<=\\[nrt]))(https?:\/\/)([A-Za-z0-9_-]{30,255})(?=(?::x-oauth-basic)?@)/gi,
    accept: hasDigitAndLetter,
  },
  {
    name: 'jdbc_password',
    about: 'User and password in an Oracle JDBC address: `jdbc:oracle:thin:user/…@host`',
    anchors: ['jdbc:oracle:'],
    pattern: /(jdbc:oracle:[a-z]{2,5}:[^\s/@'"]{1,60}\/)([^\s@'"]{1,100})(?=@)/g,
    accept: isUrlPassword,
  },
  {
    name: 'azure_account_key',
    about: 'A key in an Azure connection string: `AccountKey=…`, `SharedAccessKey=…`',
    anchors: ['accountkey=', 'sharedaccesskey='],
    ignoreCase: true,
    pattern: /((?:Account|SharedAccess)Key=)([A-Za-z0-9+/]{20,120}={0,2})/gi,
  },
  {
    name: 'azure_sas',
    about: 'The signature of a shared access address: `sig=…`',
    anchors: ['sig='],
    pattern: /([?&;](?:amp;)?sig=)([A-Za-z0-9%+/_-]{20,120}={0,2})/g,
  },
  {
    name: 'signed_url',
    about: 'The signature of a presigned address: `X-Amz-Signature=…`, `X-Goog-Signature=…`',
    anchors: ['-signature=', '-security-token='],
    ignoreCase: true,
    pattern: /(X-(?:Amz|Goog)-(?:Signature|Security-Token)=)([A-Za-z0-9%+/=_-]{20,4000})/gi,
  },
  {
    name: 'cookie',
    about: 'What a `Cookie` or `Set-Cookie` header carries',
    anchors: ['cookie'],
    ignoreCase: true,
    pattern:
      /((?:set-)?cookie2?\\{0,3}["']?\s{0,3}:\s{0,3}\\{0,3}["']?)([A-Za-z0-9_.-]{1,80}=[^\s;"'\\,]{8,4000}(?:; ?[A-Za-z0-9_.-]{1,80}=[^\s;"'\\,]{1,4000}){0,50})/gi,
    accept: (value) => !/^[^=]{1,80}=(?:\$|\{|<|\[redacted)/.test(value),
  },
  {
    name: 'session_cookie',
    about: 'The value of a well-known session cookie',
    anchors: ['sid=', 'sessid=', 'sessionid=', 'session=', '__secure-', '__host-'],
    ignoreCase: true,
    pattern:
      /((?<![A-Za-z0-9])(?:connect\.sid|sid|phpsessid|jsessionid|asp\.net_sessionid|sessionid|session|__(?:Secure|Host)-[A-Za-z0-9_.-]{1,60})=)([A-Za-z0-9%._~+/:-]{16,4000})/gi,
    accept: (value) => hasDigitAndLetter(value) && !isCode(value),
  },
  {
    name: 'netrc',
    about: 'A password in a .netrc file: `machine … login … password …`',
    anchors: ['machine', 'login'],
    pattern:
      /((?:\b|(?<=\\[nrt]))(?:machine\s{1,10}[^\s]{1,200}\s{1,10})?login\s{1,10}[^\s]{1,200}\s{1,10}(?:account\s{1,10}[^\s]{1,100}\s{1,10})?password\s{1,10})([^\s]{1,200})/g,
    accept: (value) => !value.startsWith('[redacted') && !value.startsWith('…'),
  },
  {
    name: 'pgpass',
    about: 'A line of a .pgpass file: `host:5432:database:user:…`',
    anchors: [':54', ':6432:', ':*:'],
    pattern:
      /((?:(?<![^\s"'])|(?<=\\n))[A-Za-z0-9.*_-]{1,100}:(?:54[0-9]{2}|6432|\*):[^\s:"']{1,63}:[^\s:"']{1,63}:)([^\s"'\\]{4,200})(?=[\s"'\\]|$)/g,
    accept: (value) => !value.startsWith('[redacted'),
  },
  {
    name: 'password_hash',
    about: 'The hash of a password, as in htpasswd and shadow files',
    anchors: ['$apr1$', '$1$', '$2', '$5$', '$6$', '$y$', '$argon2', '{SHA}', '{SSHA}'],
    pattern:
      /(?:\$(?:apr1|1|5|6|y)\$[A-Za-z0-9./=,$]{16,200}|\$2[abxy]\$[0-9]{2}\$[A-Za-z0-9./]{53}|\$argon2(?:id?|d)\$v=[0-9]{1,3}\$[A-Za-z0-9+/=,$]{30,200}|\{S?SHA\}[A-Za-z0-9+/=]{28,80})/g,
  },
  {
    name: 'command_password',
    about: 'A password on a command line: `curl -u user:…`, `--password …`, `sshpass -p …`',
    anchors: ['curl', '--pass', 'sshpass', '--token', '--secret', '--api-key'],
    pattern:
      /((?:(?:\b|(?<=\\[nrt]))curl\b[^\n]{0,200}\s(?:-u|--user)[ =]["']?[^\s:"']{1,100}:|\bsshpass\s{1,4}-p\s{0,4}["']?|--(?:password|passphrase|token|secret|api-key)[ =]["']?))([^\s"'<>$[\]{}()|,;\\]{8,200})/g,
    accept: (value) => !isPlaceholder(value) && !isWord(value) && !value.startsWith('-') && !isCode(value),
  },
  {
    name: 'wireguard_key',
    about: 'A WireGuard key: `PrivateKey = …`',
    anchors: ['PrivateKey', 'PresharedKey'],
    pattern: /((?:\b|(?<=\\[nrt]))(?:PrivateKey|PresharedKey)\s{0,3}=\s{0,3})([A-Za-z0-9+/]{43}=)/g,
  },
];
