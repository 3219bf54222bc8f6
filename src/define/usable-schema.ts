import { isRecord } from '../protocol/json.ts';

const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'];
/** Where schemas stand inside a schema: by name, in a list, or alone. */
const BY_NAME = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'];
const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const CONDITIONS = ['not', 'if', 'then', 'else'];
const OPEN_ENDS = ['additionalProperties', 'unevaluatedProperties', 'unevaluatedItems', 'propertyNames'];
const ALONE = ['items', 'contains', ...OPEN_ENDS, ...CONDITIONS];

/**
 * May a model be shown this schema as it is? One tool with a schema that its server refuses would cost the model all its tools, so
 * types that do not exist and references that lead elsewhere are found here.
 */
export function isUsableSchema(schema: unknown, levels = 64): boolean {
  if (typeof schema === 'boolean') return true;
  if (!isRecord(schema) || levels === 0) return false;
  const { type, $ref: reference } = schema;
  const types = type === undefined ? [] : [type].flat();
  if (!types.every((one) => TYPES.includes(one as string))) return false;
  if (reference !== undefined && !(typeof reference === 'string' && reference.startsWith('#'))) return false;
  const inside = [
    ...BY_NAME.flatMap((key) => (isRecord(schema[key]) ? Object.values(schema[key]) : [])),
    ...LISTS.flatMap((key) => (Array.isArray(schema[key]) ? (schema[key] as unknown[]) : [])),
    ...ALONE.flatMap((key) => (schema[key] === undefined ? [] : [schema[key]].flat())),
  ];
  return inside.every((one) => isUsableSchema(one, levels - 1));
}
