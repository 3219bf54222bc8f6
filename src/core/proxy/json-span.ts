/** Finds where a value stands in the text of a JSON document, so that it can be changed without touching the rest. */

const isSpace = (char: string | undefined): boolean => char === ' ' || char === '\n' || char === '\r' || char === '\t';

const skipSpace = (text: string, from: number): number => {
  let at = from;
  while (isSpace(text[at])) at += 1;
  return at;
};

/** The position after the string that begins at `from`. */
const endOfString = (text: string, from: number): number => {
  for (let at = from + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at + 1;
  }
  return text.length;
};

const endOfValue = (text: string, from: number): number => {
  if (text[from] === '"') return endOfString(text, from);
  if (text[from] !== '{' && text[from] !== '[') {
    let at = from;
    while (at < text.length && !/[,\]}\s]/.test(text.charAt(at))) at += 1;
    return at;
  }
  // Brackets are counted and not followed, so that deep nesting cannot overflow the stack.
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    const char = text[at];
    if (char === '"') at = endOfString(text, at) - 1;
    else if (char === '{' || char === '[') depth += 1;
    else if (char === '}' || char === ']') {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return text.length;
};

/** Calls back with the start of each value of the list or object at `from`, until the callback returns true. */
const eachValue = (text: string, from: number, visit: (key: string | number, at: number) => boolean): void => {
  const isList = text[from] === '[';
  let at = skipSpace(text, from + 1);
  for (let index = 0; at < text.length && text[at] !== ']' && text[at] !== '}'; index += 1) {
    let key: string | number = index;
    if (!isList) {
      const end = endOfString(text, at);
      key = JSON.parse(text.slice(at, end)) as string;
      at = skipSpace(text, skipSpace(text, end) + 1);
    }
    if (visit(key, at)) return;
    at = skipSpace(text, endOfValue(text, at));
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
};

/**
 * Returns start and end of the value at a path of a text that is known to be valid JSON, or null if there is none. Of
 * a member that is there twice, it is the last, as with `JSON.parse`.
 */
export const findJsonSpan = (
  text: string,
  path: readonly (string | number)[],
): { start: number; end: number } | null => {
  let start = skipSpace(text, text.charCodeAt(0) === 0xfeff ? 1 : 0);
  for (const step of path) {
    if (text[start] !== (typeof step === 'number' ? '[' : '{')) return null;
    let found = -1;
    eachValue(text, start, (key, at) => {
      if (key === step) found = at;
      return found >= 0 && typeof step === 'number';
    });
    if (found < 0) return null;
    start = found;
  }
  return { start, end: endOfValue(text, start) };
};
