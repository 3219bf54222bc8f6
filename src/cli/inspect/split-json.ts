/** Splits a stream of text into JSON records without holding the whole file. */

/** A record as text: a line, an element of the outermost list, or an element of a list that is a member of the document. */
export interface RawRecord {
  text: string;
  /** The name of the list that the record is an element of; null for a line or an element of the outermost list. */
  list: string | null;
}

export interface SplitProblems {
  /** Records that are longer than the cap. They are skipped. */
  tooLong: number;
  /** The file ended inside a record. */
  cut: number;
}

/** A longer record is skipped: reading it would need several times its size. */
const RECORD_CHARS = 16 * 1024 * 1024;
/** What is read ahead to tell lines from a document. A longer first line is taken for a document. */
const FIRST_LINES_CHARS = 1024 * 1024;

const isSpace = (code: number): boolean =>
  code === 32 || code === 10 || code === 13 || code === 9 || code === 0xfeff || code === 0;

/** Yields the lines of JSONL. */
async function* splitLines(chunks: AsyncIterable<string>, problems: SplitProblems): AsyncGenerator<RawRecord> {
  let kept: string[] = [];
  let chars = 0;
  for await (const chunk of chunks) {
    let from = 0;
    for (let at = chunk.indexOf('\n'); at >= 0; at = chunk.indexOf('\n', from)) {
      const part = chunk.slice(from, at);
      from = at + 1;
      const isTooLong = chars + part.length > RECORD_CHARS;
      if (isTooLong) problems.tooLong += 1;
      const text = isTooLong ? '' : kept.join('') + part;
      kept = [];
      chars = 0;
      if (text.trim() !== '') yield { text, list: null };
    }
    const rest = chunk.slice(from);
    chars += rest.length;
    // A line that is too long is still counted, but its text is not kept.
    if (chars <= RECORD_CHARS) kept.push(rest);
    else kept = [];
  }
  if (chars > RECORD_CHARS) problems.tooLong += 1;
  else if (kept.join('').trim() !== '') yield { text: kept.join(''), list: null };
}

/** Finds the records of one JSON document: elements of its outermost list, or of the lists that are its members. */
class DocumentSplitter {
  readonly #problems: SplitProblems;
  #depth = 0;
  #root: 'list' | 'object' | null = null;
  #inString = false;
  #escaped = false;
  /** The text of the value or key under way, and how much of it there was. */
  #parts: string[] = [];
  #chars = 0;
  #isReading = false;
  #key: string | null = null;
  #isKey = false;
  #list: string | null = null;

  constructor(problems: SplitProblems) {
    this.#problems = problems;
  }

  get isInside(): boolean {
    return this.#depth > 0;
  }

  /** The depth at which records begin: inside the outermost list, or inside a list of the document. */
  get #recordDepth(): number {
    return this.#root === 'list' ? 1 : this.#list === null ? -1 : 2;
  }

  add(chunk: string): RawRecord[] {
    const found: RawRecord[] = [];
    let from = this.#isReading ? 0 : -1;
    for (let at = 0; at < chunk.length; at += 1) {
      const code = chunk.charCodeAt(at);
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (code === 92) this.#escaped = true;
        else if (code === 34) {
          this.#inString = false;
          if (this.#isKey) {
            this.#take(chunk.slice(Math.max(from, 0), at + 1));
            this.#key = this.#finish(found, true);
            from = -1;
          }
        } else if (!this.#escaped) {
          // Skips to the next quote or backslash, because most of a transcript is text.
          const next = nextSpecial(chunk, at);
          at = next - 1;
        }
        continue;
      }
      if (code === 34) {
        this.#inString = true;
        if (!this.#isReading && this.#root === 'object' && this.#depth === 1 && this.#key === null) {
          this.#isKey = true;
          this.#isReading = true;
          from = at;
        } else if (!this.#isReading && this.#depth === this.#recordDepth) {
          this.#isReading = true;
          from = at;
        }
        continue;
      }
      if (code === 123 || code === 91) {
        if (this.#depth === 0) this.#root = code === 91 ? 'list' : 'object';
        else if (this.#root === 'object' && this.#depth === 1 && code === 91) this.#list = this.#key;
        else if (!this.#isReading && this.#depth === this.#recordDepth) {
          this.#isReading = true;
          from = at;
        }
        this.#depth += 1;
      } else if (code === 125 || code === 93) {
        this.#depth -= 1;
        if (this.#isReading && this.#depth === this.#recordDepth) {
          this.#take(chunk.slice(Math.max(from, 0), at + 1));
          this.#finish(found, false);
          from = -1;
        }
        if (this.#root === 'object' && this.#depth === 1) this.#list = null;
      } else if (code === 44 && this.#root === 'object' && this.#depth === 1) this.#key = null;
    }
    if (this.#isReading) this.#take(chunk.slice(Math.max(from, 0)));
    return found;
  }

  #take(part: string): void {
    this.#chars += part.length;
    if (this.#chars <= RECORD_CHARS) this.#parts.push(part);
    else this.#parts = [];
  }

  #finish(found: RawRecord[], isKey: boolean): string {
    const text = this.#parts.join('');
    const isTooLong = this.#chars > RECORD_CHARS;
    this.#parts = [];
    this.#chars = 0;
    this.#isReading = false;
    this.#isKey = false;
    if (isTooLong) this.#problems.tooLong += 1;
    else if (!isKey) found.push({ text, list: this.#root === 'list' ? null : this.#list });
    return isKey ? text.slice(1, -1) : '';
  }
}

const nextSpecial = (text: string, from: number): number => {
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 34 || code === 92) return at;
  }
  return text.length;
};

async function* splitDocument(chunks: AsyncIterable<string>, problems: SplitProblems): AsyncGenerator<RawRecord> {
  const splitter = new DocumentSplitter(problems);
  for await (const chunk of chunks) yield* splitter.add(chunk);
  if (splitter.isInside) problems.cut += 1;
}

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/** Puts chunks that were read ahead before the rest. */
async function* chain(ahead: readonly string[], rest: AsyncIterator<string>): AsyncGenerator<string> {
  yield* ahead;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}

/**
 * Splits a file into records. A file is a document if it begins with a list, or with an object that does not end on its
 * line and is not followed by another object. Everything else is read line by line.
 */
export async function* splitRecords(chunks: AsyncIterable<string>, problems: SplitProblems): AsyncGenerator<RawRecord> {
  const source = chunks[Symbol.asyncIterator]();
  const ahead: string[] = [];
  let text = '';
  let isOver = false;
  while (!isOver && text.length < FIRST_LINES_CHARS) {
    const next = await source.next();
    if (next.done === true) isOver = true;
    else {
      ahead.push(next.value);
      text += next.value;
    }
  }
  const rest = chain(ahead, source);
  if (isDocument(text.slice(skipSpace(text)))) yield* splitDocument(rest, problems);
  else yield* splitLines(rest, problems);
}

const isDocument = (text: string): boolean => {
  if (text.startsWith('[')) return true;
  if (!text.startsWith('{')) return false;
  const [first = '', second = ''] = text.split('\n').filter((line) => line.trim() !== '');
  return !isJson(first) && !(first.length > 2 && second.startsWith('{'));
};

const skipSpace = (text: string): number => {
  let at = 0;
  while (at < text.length && isSpace(text.charCodeAt(at))) at += 1;
  return at;
};
