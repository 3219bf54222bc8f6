import { marker } from './rule.ts';

export type Redact = (text: string) => string;

/** Shorter values would match by chance. */
const LEAST_CHARS = 8;
const MARK = marker('known');

/**
 * Takes the given values out, wherever they stand, in six spellings: plain, base64, base64url, hex, URL-encoded and
 * escaped as JSON. It knows no patterns, so that it changes nothing else.
 */
export function createMask(known: readonly string[]): Redact {
  const usable = [...new Set(known)].filter((value) => value.length >= LEAST_CHARS && !MARK.includes(value));
  const spellings = [...new Set(usable.flatMap(spellingsOf))].sort((one, other) => other.length - one.length);
  return (text) => {
    let clean = text;
    for (const spelling of spellings) if (clean.includes(spelling)) clean = clean.replaceAll(spelling, MARK);
    return clean;
  };
}

function spellingsOf(value: string): string[] {
  const bytes = new TextEncoder().encode(value);
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  const url = encodeURIComponent(value);
  const json = JSON.stringify(value).slice(1, -1);
  const base64 = base64Parts(bytes);
  return [
    value,
    hex,
    hex.toUpperCase(),
    url,
    url.replaceAll('%20', '+'),
    url.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    json,
    // JSON inside JSON.
    JSON.stringify(json).slice(1, -1),
    ...base64,
    ...base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')),
    ...base64.map((text) => encodeURIComponent(text)),
  ].filter((text) => text.length >= LEAST_CHARS);
}

/**
 * The value in base64: alone, and as a part of a longer text. There it begins at one of three offsets, and its first and last
 * characters depend on its neighbours, so they are left out.
 */
function base64Parts(bytes: Uint8Array): string[] {
  const parts = [0, 1, 2].map((offset) => {
    const text = base64(new Uint8Array([...new Uint8Array(offset), ...bytes])).replaceAll('=', '');
    const isWhole = (bytes.length + offset) % 3 === 0;
    return text.slice(offset === 0 ? 0 : offset + 1, isWhole ? undefined : -1);
  });
  return [base64(bytes), base64(bytes).replaceAll('=', ''), ...parts];
}

const base64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes));

const SECRET_VARIABLE = /(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASS|PAT|CREDENTIAL)S?$|^PGPASSWORD$|_AUTH$/i;

/** Values that are no secret anywhere: they are names of products and default settings. */
const ORDINARY = new Set(
  'anonymous changeme changeit database default defaults development disabled docker enabled example guest-guest localhost mongodb mysql password passw0rd placeholder postgres postgresql production rabbitmq required root-root sandbox secondwind staging temporal testing undefined username'.split(
    ' ',
  ),
);

/**
 * The values of environment variables whose names say that they are secrets. A value that is an ordinary word, or a part of
 * the variable's own name (`POSTGRES_PASSWORD=postgres`), is left out: it protects nothing, and to take it out everywhere
 * would garble names and sentences.
 */
export const secretsOf = (environment: Record<string, string | undefined>): string[] =>
  Object.entries(environment).flatMap(([name, value]) => {
    if (value === undefined || !SECRET_VARIABLE.test(name)) return [];
    const own = new Set(name.toLowerCase().split('_'));
    // A list such as `viewer:<token>,reporter:<token>` holds several.
    return [value, ...value.split(/[,:;\s]+/)].filter(
      (one) => !ORDINARY.has(one.toLowerCase()) && !own.has(one.toLowerCase()),
    );
  });
