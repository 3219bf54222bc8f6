import { isRecord } from '../protocol/json.ts';
import type { ToolManifestEntry } from '../protocol/tools.ts';

/** The manifest is part of every run's input, so it has only a few values. */
const ARGUMENTS = 10;
const VALUES = 8;
const VALUE_CHARS = 24;

/**
 * Lists the values that a tool's JSON Schema states for its arguments: choices, constants, defaults and limits. Returns
 * undefined if there are none.
 */
export function statedValues(schema: unknown): ToolManifestEntry['stated'] {
  const properties = isRecord(schema) && isRecord(schema['properties']) ? schema['properties'] : {};
  const stated = Object.entries(properties)
    .map(([name, property]) => [name, valuesIn(property)] as const)
    .filter(([, values]) => values.length > 0)
    .slice(0, ARGUMENTS);
  return stated.length === 0 ? undefined : Object.fromEntries(stated);
}

const SINGLE = ['const', 'default', 'minimum', 'maximum', 'minItems', 'maxItems', 'multipleOf'];

function valuesIn(property: unknown): (string | number | boolean | null)[] {
  if (!isRecord(property)) return [];
  const choices = Array.isArray(property['enum']) ? property['enum'] : [];
  const found = [...SINGLE.map((key) => property[key]), ...choices].filter(isPlain);
  return [...new Set(found)].slice(0, VALUES);
}

/** The largest safe integer is what zod states for every whole number, so it says nothing. */
const isPlain = (value: unknown): value is string | number | boolean | null =>
  value === null ||
  typeof value === 'boolean' ||
  (typeof value === 'number' && Number.isFinite(value) && Math.abs(value) < Number.MAX_SAFE_INTEGER) ||
  (typeof value === 'string' && value.length <= VALUE_CHARS);
