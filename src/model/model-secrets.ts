import { createMask, type Redact } from '../core/redaction/redact.ts';
import { isEndpoint, type ModelSource } from '../define/model-source.ts';

const SECRET_NAME = /auth|cookie|credential|key|password|secret|token/i;

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
  const named = Object.entries({ ...body, ...headers })
    .filter(([name]) => SECRET_NAME.test(name))
    // Of `Bearer <key>` the key alone is a secret too, because a server may echo it.
    .flatMap(([, value]) => (typeof value === 'string' ? [value, ...value.split(/[\s=;]+/)] : []));
  return [...(api_key === undefined ? [] : [api_key]), ...named];
}
