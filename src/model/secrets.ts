import { createRedactor, type Redact } from '../core/redaction/redact.ts';
import { isEndpoint, type ModelSource } from '../define/model-source.ts';

const SECRET_NAME = /auth|cookie|credential|key|password|secret|token/i;

/** Takes out, beside what the process knows as secrets, what an agent's own endpoint holds: servers echo keys they refuse. */
export function withSecretsOf(source: ModelSource, redact: Redact): Redact {
  const own = createRedactor(secretsIn(source));
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
