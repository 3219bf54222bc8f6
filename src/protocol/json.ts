export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Is this an object whose own `field` is a text? What comes from outside is asked, never trusted. */
export const isNamed = (value: unknown, field: string): boolean =>
  typeof value === 'object' && value !== null && typeof (value as Record<string, unknown>)[field] === 'string';
