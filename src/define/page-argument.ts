import { defined, isRecord } from '../protocol/json.ts';
import type { ToolEffect, ToolManifestEntry } from '../protocol/tools.ts';

/** Names that only mean the number of items to return. Of several, the first one counts. */
const USUAL_NAMES = [
  'page_size',
  'pageSize',
  'per_page',
  'perPage',
  'max_results',
  'maxResults',
  'top_k',
  'topK',
  'limit',
];

/**
 * Finds the argument that says how many items a call returns: the declared one, or a number with a usual name. Only the
 * arguments of a `read` tool are searched, because `limit` may mean something else to a tool that changes things.
 */
export function findPage(
  schema: unknown,
  { effect, pageArgument }: { effect: ToolEffect; pageArgument?: string },
): ToolManifestEntry['page'] {
  const properties = isRecord(schema) && isRecord(schema['properties']) ? schema['properties'] : {};
  const argument =
    pageArgument ?? (effect === 'read' ? USUAL_NAMES.find((name) => isNumber(properties[name])) : undefined);
  if (argument === undefined) return undefined;
  return { argument, ...defined({ size: sizeIn(properties[argument]) }) };
}

const isNumber = (property: unknown): boolean =>
  isRecord(property) && (property['type'] === 'integer' || property['type'] === 'number');

function sizeIn(property: unknown): number | undefined {
  const size = isRecord(property) ? property['default'] : undefined;
  return typeof size === 'number' && Number.isSafeInteger(size) && size > 0 ? size : undefined;
}
