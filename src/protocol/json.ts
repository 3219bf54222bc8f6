import { CAP } from './caps.ts';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** True if the value is an object with a string in its own `field`. Checks values that come from outside. */
export const isNamed = (value: unknown, field: string): boolean =>
  typeof value === 'object' && value !== null && typeof (value as Record<string, unknown>)[field] === 'string';

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Returns the path at which a value is nested more deeply than the cap allows, or null. The functions that hash and
 * check JSON are recursive, so deeper input would overflow the stack. For the same reason this function is a loop.
 */
export function pathTooDeep(value: unknown): string | null {
  const isOpen = typeof value === 'object' && value !== null;
  const open: { value: object; path: string; level: number }[] = isOpen ? [{ value, path: '$', level: 0 }] : [];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.level === CAP.jsonLevels) return next.path.length > 200 ? `${next.path.slice(0, 200)}…` : next.path;
    const isList = Array.isArray(next.value);
    for (const [key, inner] of Object.entries(next.value)) {
      if (typeof inner !== 'object' || inner === null) continue;
      const path = next.path + (isList ? `[${key}]` : `.${key}`);
      open.push({ value: inner as object, path, level: next.level + 1 });
    }
  }
  return null;
}
