/**
 * Canonical JSON (RFC 8785), in which the order of keys does not matter. `undefined` members are dropped and `undefined`
 * items are null, as in JSON. Throws for a number that is not finite and for a value that contains itself.
 */
export const canonicalJson = (value: unknown): string => write(value ?? null, []);

/** Hashes are computed from this text several times in every attempt, so it is written without a general library. */
function write(value: unknown, within: object[]): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number') return writeNumber(value);
  if (value === null || value === undefined) return 'null';
  if (typeof value !== 'object' || hasToJson(value)) return JSON.stringify(value);
  if (within.includes(value)) throw new TypeError('A value that contains itself cannot be written as JSON.');
  within.push(value);
  const text = Array.isArray(value) ? writeList(value, within) : writeObject(value as Record<string, unknown>, within);
  within.pop();
  return text;
}

const hasToJson = (value: { toJSON?: unknown }): boolean => value.toJSON !== undefined && value.toJSON !== null;

function writeNumber(value: number): string {
  if (!Number.isFinite(value)) throw new TypeError(`The number ${value} cannot be written as JSON.`);
  return String(value);
}

function writeList(items: readonly unknown[], within: object[]): string {
  let text = '';
  for (let index = 0; index < items.length; index += 1)
    text += `${index === 0 ? '' : ','}${write(items[index], within)}`;
  return `[${text}]`;
}

/** `sort` compares UTF-16 code units, which is the order of the RFC. */
function writeObject(members: Record<string, unknown>, within: object[]): string {
  let text = '';
  for (const key of Object.keys(members).sort()) {
    const member = members[key];
    if (member !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${write(member, within)}`;
  }
  return `{${text}}`;
}
