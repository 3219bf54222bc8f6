import { createMask, type Redact } from '../core/redaction/redact.ts';
import { isEndpoint, type ModelSource } from '../define/model-source.ts';

const SECRET_NAME = /auth|cookie|credential|key|password|secret|token/i;

/** Masks what an agent's own endpoint holds, because servers echo the keys that they refuse. */
export const maskSecretsOf = (source: ModelSource): Redact => createMask(secretsIn(source));

/** Does the same before `redact` does its part. */
export function withSecretsOf(source: ModelSource, redact: Redact): Redact {
  const own = maskSecretsOf(source);
  return (text) => redact(own(text));
}

function secretsIn(source: ModelSource): string[] {
  if (!isEndpoint(source)) return [];
  const { api_key, headers = {}, body = {} } = source;
  const named = Object.entries({ ...body, ...headers })
    .filter(([name]) => SECRET_NAME.test(name))
    // `Bearer <key>`: the key alone is what comes back.
    .flatMap(([, value]) => (typeof value === 'string' ? [value, ...value.split(/[\s=;]+/)] : []));
  return [...(api_key === undefined ? [] : [api_key]), ...named];
}
