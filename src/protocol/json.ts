import { CAP } from './caps.ts';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** True if the value is an object with a string in its own `field`. Checks values that come from outside. */
export const hasTextField = (value: unknown, field: string): boolean =>
  typeof value === 'object' && value !== null && typeof (value as Record<string, unknown>)[field] === 'string';

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Returns the path at which a value is nested more deeply than the cap allows, or null. The functions that hash and
 * check JSON are recursive, so deeper input would overflow the stack. For the same reason this function is a loop.
 */
export function findTooDeepPath(value: unknown): string | null {
  // Depth first, so that a value that holds itself is found after as many steps as there are levels.
  const open: object[] = isOpen(value) ? [value] : [];
  const levels = [0];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const level = levels.pop() ?? 0;
    if (level === CAP.jsonLevels) return firstDeepPath(value);
    for (const inner of Array.isArray(next) ? next : Object.values(next)) {
      if (!isOpen(inner)) continue;
      open.push(inner);
      levels.push(level + 1);
    }
  }
  return null;
}

const isOpen = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Paths cost much more than levels, so they are built only for a value that is known to be too deep. */
function firstDeepPath(value: unknown): string {
  const open = [{ value: value as object, path: '$', level: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.level === CAP.jsonLevels) return next.path.length > 200 ? `${next.path.slice(0, 200)}…` : next.path;
    const isList = Array.isArray(next.value);
    for (const [key, inner] of Object.entries(next.value)) {
      const path = next.path + (isList ? `[${key}]` : `.${key}`);
      if (isOpen(inner)) open.push({ value: inner, path, level: next.level + 1 });
    }
  }
  return '$';
}

/** `T` with every member that may be undefined made optional instead. */
export type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/**
 * Returns the object without its undefined members. Types with optional members do not accept `undefined`, and JSON
 * drops it, so an absent member is the only way to say "not given".
 */
export function defined<T extends object>(value: T): Defined<T> {
  const kept: Record<string, unknown> = {};
  for (const key in value) if (value[key] !== undefined) kept[key] = value[key];
  return kept as Defined<T>;
}
