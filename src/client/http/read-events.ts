/** One message of a server-sent event stream. */
export interface SentEvent {
  id: string;
  event: string;
  data: string;
}

/** The largest message. The API sends much smaller ones. */
const MAX_MESSAGE_CHARS = 16 * 1024 * 1024;

/** Parses server-sent events as the standard says: with any line ending, without comments and without an incomplete last message. */
export async function* readEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<SentEvent> {
  let fields = blank();
  for await (const line of linesOf(chunks)) {
    if (line !== '') {
      take(fields, line);
      continue;
    }
    const { id, event, data } = fields;
    fields = blank();
    if (data.length > 0) yield { id, event, data: data.join('\n') };
  }
}

const blank = (): { id: string; event: string; data: string[] } => ({ id: '', event: 'message', data: [] });

function take(fields: { id: string; event: string; data: string[] }, line: string): void {
  const colon = line.indexOf(':');
  // A line that begins with a colon is a comment, which the server sends to keep the connection open.
  if (colon === 0) return;
  const name = colon === -1 ? line : line.slice(0, colon);
  const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
  if (name === 'data') fields.data.push(value);
  else if (name === 'id' || name === 'event') fields[name] = value;
}

async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of chunks) {
    text += decoder.decode(chunk, { stream: true });
    // The last part may be an incomplete line, and a CR at its end may be the first half of CR LF.
    const lines = text.split(/\r\n|\n|\r(?!$)/);
    text = lines.pop() ?? '';
    yield* lines;
    if (text.length > MAX_MESSAGE_CHARS) throw new Error('A message of the stream is too large.');
  }
  if (text.endsWith('\r')) yield text.slice(0, -1);
}
