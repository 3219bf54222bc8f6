import type { Json } from '../../protocol/json.ts';
import { createMask, type Redact, secretsOf } from './known-values.ts';
import { redactByRules } from './by-rules.ts';
import { marker } from './rule.ts';
import { isSecretName } from './secret-names.ts';

export { createMask, type Redact, secretsOf };

const MOST_PASSES = 4;

/**
 * Takes secrets out of what people read: records, previews, guidance, events, logs, exports and answers. It never works on
 * what travels to workflows and tools. Redacting twice changes nothing. `known` are values that this process holds as
 * secrets.
 */
export function createRedactor(known: readonly string[] = []): Redact {
  const mask = createMask(known);
  const once: Redact = (text) => redactByRules(mask(text));
  return (text) => {
    let clean = once(text);
    // Two secrets without a gap: the second has its word boundary only when the first is gone.
    for (let before = text, again = 0; clean !== before && again < MOST_PASSES; again += 1) {
      before = clean;
      clean = once(clean);
    }
    return clean;
  };
}

/**
 * Redacts every text inside a JSON value, keys too; gives back the same value when there was nothing to take out. Two keys
 * that would become one are numbered, so that no member is lost.
 */
export function redactJson(value: Json, redact: Redact): Json {
  if (typeof value === 'string') return redact(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => redactJson(item, redact));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  return redactMembers(value, (key) => [redact(key), redactMember(key, value[key] as Json, redact)]);
}

type Members = { [key: string]: Json };

/** Rebuilds an object from what `clean` makes of each member; gives back the same one when nothing changed. */
export function redactMembers(value: Members, clean: (key: string) => [key: string, value: Json]): Members {
  let changed = false;
  const taken = new Set(Object.keys(value));
  const entries = Object.keys(value).map((key): [string, Json] => {
    const [name, inner] = clean(key);
    changed ||= name !== key || inner !== value[key];
    if (name === key) return [key, inner];
    let unique = name;
    for (let number = 2; taken.has(unique); number += 1) unique = `${name} (${number})`;
    taken.add(unique);
    return [unique, inner];
  });
  return changed ? Object.fromEntries(entries) : value;
}

/** `{"password": "…"}`: alone the text looks harmless, beside its key it does not. */
export function redactMember(key: string, value: Json, redact: Redact): Json {
  const clean = redactJson(value, redact);
  if (!isSecretName(key) || redact(ASSIGNED) === ASSIGNED) return clean;
  return hidden(clean);
}
/** Tells a redactor that knows rules from a mask, which takes out nothing but values. */
const ASSIGNED = 'password=c0rrect-h0rse';

const LEAST_CHARS = 4;
/** Everything inside is secret, unless it only describes the member, as a JSON schema does. */
function hidden(value: Json): Json {
  if (typeof value === 'string') {
    return value.length < LEAST_CHARS || value.includes('[redacted:') ? value : marker('assignment');
  }
  if (typeof value === 'number') return String(value).length < LEAST_CHARS ? value : marker('assignment');
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(hidden);
  if ('type' in value || '$ref' in value) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, hidden(inner)]));
}
