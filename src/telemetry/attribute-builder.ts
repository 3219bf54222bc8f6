import type { Attributes } from '@opentelemetry/api';
import { redactJson, type Redact } from '../core/redaction/redact.ts';
import type { Json } from '../protocol/json.ts';
import { CAP } from '../protocol/caps.ts';

type AttributeValue = Attributes[string] | null;

/** The only place where values become attributes: redacted, capped, and people's texts only if allowed. */
export interface AttributeBuilder {
  /** Names, ids and numbers. Values that are null or empty are left out. */
  plain: (values: Record<string, AttributeValue>) => Attributes;
  /** Prompts, inputs and outputs. Returns nothing unless content is exported. */
  content: (values: Record<string, unknown>) => Attributes;
}

const MAX_NAME_CHARS = 256;
const MAX_LIST = 20;
const MAX_CONTENT_CHARS = CAP.inlineOutputBytes;

export function createAttributeBuilder(redact: Redact, withContent: boolean): AttributeBuilder {
  // Names and ids are never redacted, because traces are searched by them.
  const short = (text: string): string => text.slice(0, MAX_NAME_CHARS);
  const told = (value: AttributeValue): AttributeValue => {
    if (typeof value === 'string') return short(value);
    if (!Array.isArray(value)) return value;
    return value
      .filter((item) => typeof item === 'string')
      .slice(0, MAX_LIST)
      .map(short);
  };
  const isThere = (value: AttributeValue): boolean =>
    value !== null && value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0);
  return {
    plain: (values) =>
      Object.fromEntries(
        Object.entries(values)
          .filter(([, value]) => isThere(value))
          .map(([name, value]) => [name, told(value) ?? undefined]),
      ),
    content: (values) => {
      if (!withContent) return {};
      const known = Object.entries(values).filter(([, value]) => value !== undefined && value !== null);
      return Object.fromEntries(
        known.map(([name, value]) => [name, textOf(value, redact).slice(0, MAX_CONTENT_CHARS)]),
      );
    },
  };
}

/** Redacted before it is cut, because half a secret would not be recognized. */
const textOf = (value: unknown, redact: Redact): string =>
  typeof value === 'string' ? redact(value) : redact(JSON.stringify(redactJson(value as Json, redact)) ?? '');
