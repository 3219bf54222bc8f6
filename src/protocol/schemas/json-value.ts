import { z } from 'zod';
import type { Json } from '../json.ts';

/**
 * Any JSON. `z.json()` tries six schemas for every value in it and makes each schema that contains it recursive, which
 * costs several times as much as this check.
 */
export const jsonValueSchema = z.unknown().refine(isJson, { error: 'expected JSON' }) as z.ZodType<Json, Json>;

function isJson(value: unknown): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object') return false;
  if (Array.isArray(value)) return value.every(isJson);
  const prototype: unknown = Object.getPrototypeOf(value);
  return (prototype === Object.prototype || prototype === null) && Object.values(value).every(isJson);
}
