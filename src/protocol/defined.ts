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
