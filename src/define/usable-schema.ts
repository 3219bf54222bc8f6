import { isRecord } from '../protocol/json.ts';

const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'];
/** The keywords that contain schemas: in an object by name, in a list, or as a single schema. */
const BY_NAME = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'];
const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const CONDITIONS = ['not', 'if', 'then', 'else'];
const OPEN_ENDS = ['additionalProperties', 'unevaluatedProperties', 'unevaluatedItems', 'propertyNames'];
const ALONE = ['items', 'contains', ...OPEN_ENDS, ...CONDITIONS];

/**
 * Whether a model can be sent this schema as it is. A model server that refuses the schema of one tool refuses the whole request,
 * so unknown types and references to other documents are found here.
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
