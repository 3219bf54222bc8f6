import type { Json } from '../../protocol/json.ts';

/**
 * The one place that takes secrets out. It runs before history, store, log and model; running it twice changes nothing.
 * Patterns are linear and anchored on what makes a secret recognisable; values that the process itself holds as secrets
 * are taken out wherever they stand.
 */
interface Rule {
  name: string;
  pattern: RegExp;
  /** What stays before and after the secret, so that a reader still sees what kind of thing was there. */
  replace: string;
}

const RULES: Rule[] = [
  {
    name: 'private_key',
    pattern:
      /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----(?:[A-Za-z0-9+/=\s:,]|-(?!----)){0,20000}-----END [A-Z ]{0,30}PRIVATE KEY-----/g,
    replace: '[redacted:private_key]',
  },
  { name: 'aws_key', pattern: /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g, replace: '[redacted:aws_key]' },
  {
    name: 'github_token',
    pattern: /\b(?:gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_[A-Za-z0-9_]{20,255})/g,
    replace: '[redacted:github_token]',
  },
  { name: 'slack_token', pattern: /\bxox[abeoprs]-[A-Za-z0-9-]{10,250}/g, replace: '[redacted:slack_token]' },
  { name: 'provider_key', pattern: /\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,250}/g, replace: '[redacted:provider_key]' },
  { name: 'google_key', pattern: /\bAIza[0-9A-Za-z_-]{35}/g, replace: '[redacted:google_key]' },
  { name: 'npm_token', pattern: /\bnpm_[A-Za-z0-9]{36}\b/g, replace: '[redacted:npm_token]' },
  {
    name: 'jwt',
    pattern: /\beyJ[A-Za-z0-9_-]{8,300}\.[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,2000}/g,
    replace: '[redacted:jwt]',
  },
  { name: 'bearer', pattern: /\b(Bearer|Basic) {1,20}[A-Za-z0-9._~+/=-]{16,4000}/g, replace: '$1 [redacted:bearer]' },
  {
    name: 'url_password',
    pattern: /\b([a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@'"]{1,100}):[^\s/@'"]{1,200}@/gi,
    replace: '$1:[redacted:url_password]@',
  },
  {
    // A page token is no secret, and a tool that pages needs it back as it was.
    name: 'assignment',
    pattern:
      /\b((?:[A-Za-z0-9]{1,30}[_-]){0,4}(?:password|passwd|secret|api[_-]?key|access[_-]?key|(?:(?<![A-Za-z0-9][_-])|(?<=(?:access|api|auth|bearer|bot|deploy|github|gitlab|id|npm|personal|refresh|secondwind|session)[_-]))token)["']?\s{0,3}[=:]\s{0,3}["']?)(?!\[redacted)[^\s"',;&]{8,500}/gi,
    replace: '$1[redacted:assignment]',
  },
];

export type Redact = (text: string) => string;

/** `known` are values that this process holds as secrets; short ones would match by chance and are left out. */
export function createRedactor(known: string[] = []): Redact {
  const values = [...new Set(known)]
    .filter((value) => value.length >= 8)
    .sort((one, other) => other.length - one.length);
  const once: Redact = (text) => {
    let clean = text;
    for (const value of values) if (clean.includes(value)) clean = clean.split(value).join('[redacted:known]');
    for (const rule of RULES) clean = clean.replace(rule.pattern, rule.replace);
    return clean;
  };
  return (text) => {
    const clean = once(text);
    // Two secrets without a gap: the second has its word boundary only when the first is gone.
    return clean === text ? text : once(once(clean));
  };
}

/** Redacts every text inside a JSON value, keys too; gives back the same value when there was nothing to take out. */
export function redactJson(value: Json, redact: Redact): Json {
  if (typeof value === 'string') return redact(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => redactJson(item, redact));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  let changed = false;
  const entries = Object.entries(value).map(([key, inner]): [string, Json] => {
    const clean: [string, Json] = [redact(key), redactMember(key, inner, redact)];
    changed ||= clean[0] !== key || clean[1] !== inner;
    return clean;
  });
  return changed ? Object.fromEntries(entries) : value;
}

/** `{"password": "…"}`: alone the text looks harmless, beside its key it does not. */
function redactMember(key: string, value: Json, redact: Redact): Json {
  if (typeof value !== 'string' || redact(value) !== value) return redactJson(value, redact);
  const named = `${key}=`;
  const clean = redact(named + value);
  return clean === named + value || !clean.startsWith(named) ? value : clean.slice(named.length);
}

const SECRET_NAME = /(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)S?$/i;

/** The values of environment variables whose names say that they are secrets. */
export const secretsOf = (environment: Record<string, string | undefined>): string[] =>
  Object.entries(environment).flatMap(([name, value]) =>
    // A list such as `viewer:<token>,reporter:<token>` holds several.
    value !== undefined && SECRET_NAME.test(name) ? [value, ...value.split(/[,:;\s]+/)] : [],
  );
