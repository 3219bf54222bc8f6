import { createMask, type Redact } from '../core/redaction/redact.ts';
import { hasDigitAndLetter } from '../core/redaction/rule.ts';
import { isSecretName } from '../core/redaction/secret-names.ts';
import { isEndpoint, type ModelSource } from '../define/model-source.ts';

const HEADER_NAME = /auth|cookie|credential|key|password|secret|token/i;
/** Local servers take any word as key, such as `lm-studio`. Such a word may stand in a call as well, and a tool gets what was written. */
const isLikeSecret = (value: string): boolean => value.length >= 20 || (value.length >= 13 && hasDigitAndLetter(value));

/** Masks what an agent's own endpoint holds, because servers echo the keys that they refuse. */
export const maskSecretsOf = (source: ModelSource): Redact => createMask(secretsIn(source));

/** Returns a redactor that masks these secrets first and then applies `redact`. */
export function redactSecretsOf(source: ModelSource, redact: Redact): Redact {
  const own = maskSecretsOf(source);
  return (text) => redact(own(text));
}

function secretsIn(source: ModelSource): string[] {
  if (!isEndpoint(source)) return [];
  const { api_key, headers = {}, body = {} } = source;
  const named = [
    ...Object.entries(headers).filter(([name]) => HEADER_NAME.test(name)),
    // A body has settings such as `prompt_cache_key` too.
    ...Object.entries(body).filter(([name]) => isSecretName(name)),
  ]
    // Of `Bearer <key>` the key alone is a secret too, because a server may echo it.
    .flatMap(([, value]) => (typeof value === 'string' ? [value, ...value.split(/[\s=;]+/)] : []));
  return [...(api_key === undefined ? [] : [api_key]), ...named].filter(isLikeSecret);
}
