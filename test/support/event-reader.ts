/** Reads server-sent events as a browser does. */
export interface SeenEvent {
  id: string;
  event: string;
  data: Record<string, unknown>;
}

/** Yields events until the stream ends or the caller leaves the loop. */
export async function* readEvents(response: Response): AsyncGenerator<SeenEvent> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
      const fields = new Map(
        text
          .slice(0, end)
          .split('\n')
          .map((line): [string, string] => [
            line.slice(0, line.indexOf(':')),
            line.slice(line.indexOf(':') + 1).trim(),
          ]),
      );
      text = text.slice(end + 2);
      const data = fields.get('data');
      if (data === undefined) continue;
      const parsed = JSON.parse(data) as Record<string, unknown>;
      yield { id: fields.get('id') ?? '', event: fields.get('event') ?? '', data: parsed };
    }
  }
}

export async function takeEvents(response: Response, isLast: (event: SeenEvent) => boolean): Promise<SeenEvent[]> {
  const seen: SeenEvent[] = [];
  for await (const event of readEvents(response)) {
    seen.push(event);
    if (isLast(event)) break;
  }
  return seen;
}
