/** What is wrong with a JSON text that a parser accepts all the same. */
export type JsonTrouble = { kind: 'deep' } | { kind: 'twice'; key: string } | { kind: 'forbidden'; key: string };

/** A parser keeps the last of two members of one name, another the first: what was checked may not be what is used. */
const FORBIDDEN = '__proto__';

/**
 * Looks through a text that is known to be JSON, once from start to end. Written as a loop, so that no nesting can use
 * up the stack.
 */
export function troubleIn(text: string, maxDepth: number): JsonTrouble | null {
  /** The keys of each object around; null for a list. */
  const around: (Set<string> | null)[] = [];
  for (let at = 0; at < text.length; at += 1) {
    switch (text[at]) {
      case '{':
      case '[':
        around.push(text[at] === '{' ? new Set() : null);
        if (around.length > maxDepth) return { kind: 'deep' };
        break;
      case '}':
      case ']':
        around.pop();
        break;
      case '"': {
        const end = endOfText(text, at);
        const keys = around.at(-1);
        if (keys && isFollowedByColon(text, end)) {
          const key = JSON.parse(text.slice(at, end + 1)) as string;
          if (key === FORBIDDEN) return { kind: 'forbidden', key };
          if (keys.has(key)) return { kind: 'twice', key };
          keys.add(key);
        }
        at = end;
        break;
      }
      default:
    }
  }
  return null;
}

/** Where the text that begins here ends: at the next quote that no backslash takes. */
function endOfText(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}

function isFollowedByColon(text: string, end: number): boolean {
  let at = end + 1;
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at += 1;
  return text[at] === ':';
}
