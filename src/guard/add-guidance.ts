import { isRecord } from '../protocol/json.ts';

/**
 * Puts guidance at the end of a result: after a text, as the last part of a list of content parts, or as the last member
 * of an object. Returns undefined for other results, which cannot carry it.
 */
export function addGuidance(result: unknown, text: string): unknown {
  if (typeof result === 'string') return result === '' ? text : `${result}\n\n${text}`;
  if (!isRecord(result)) return undefined;
  const { content } = result;
  if (Array.isArray(content)) return { ...result, content: [...(content as unknown[]), { type: 'text', text }] };
  return { ...result, guidance: text };
}

/** Returns an error like the given one whose message ends with the guidance. The given one is its cause. */
export function addGuidanceToError(error: unknown, text: string): Error {
  const told = new Error(`${messageOf(error)}\n\n${text}`, { cause: error });
  if (error instanceof Error) told.name = error.name;
  return told;
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
