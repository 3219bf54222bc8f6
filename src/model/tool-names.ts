/**
 * Translates tool names. Providers allow fewer characters than we do (no dots), so each tool gets a name that every provider accepts.
 */
export interface ToolNames {
  toWire(name: string): string;
  /** Returns undefined for a tool that the model made up. */
  fromWire(name: string): string | undefined;
}

const MAX_CHARS = 64;

export function createToolNames(names: Iterable<string>): ToolNames {
  const wireOf = new Map<string, string>();
  const nameOf = new Map<string, string>();
  for (const name of names) {
    if (wireOf.has(name)) continue;
    const wire = freeName(name, nameOf);
    wireOf.set(name, wire);
    nameOf.set(wire, name);
  }
  return { toWire: (name) => wireOf.get(name) ?? plain(name), fromWire: (name) => nameOf.get(name) };
}

const plain = (name: string): string => name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, MAX_CHARS) || 'tool';

function freeName(name: string, taken: ReadonlyMap<string, string>): string {
  const wish = plain(name);
  for (let number = 1; ; number += 1) {
    const ending = number === 1 ? '' : `_${number}`;
    const candidate = wish.slice(0, MAX_CHARS - ending.length) + ending;
    if (!taken.has(candidate)) return candidate;
  }
}
