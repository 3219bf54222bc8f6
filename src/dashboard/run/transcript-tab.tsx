import { useState } from 'react';
import type { TranscriptMessage } from '../../client/views.ts';
import { SecondwindError } from '../../protocol/errors.ts';
import { ProblemNotice } from '../parts/problem.tsx';
import { TextBlock } from '../parts/text.tsx';
import { useSession } from '../shell/session.ts';
import { useAsked } from '../shell/use-asked.ts';

/** The conversation with the model, as it was sent. */
export function TranscriptTab({ runId, version }: { runId: string; version: number }) {
  const { client } = useSession();
  const [pages, setPages] = useState(1);
  const asked = useAsked(
    async (signal) => {
      const messages: TranscriptMessage[] = [];
      let cursor: string | null | undefined;
      for (let page = 0; page < pages && cursor !== null; page += 1) {
        const answer = await client.runs.transcript(runId, { limit: 100, ...(cursor && { cursor }) }, { signal });
        messages.push(...answer.transcript);
        cursor = answer.next_cursor;
      }
      return { messages, hasMore: cursor !== null };
    },
    [client, runId, version, pages],
  );
  if (asked.error instanceof SecondwindError && asked.error.code === 'no_transcript')
    return <p className="faint empty">This run talks to no model: its steps are in the tab Steps.</p>;
  if (asked.error !== undefined) return <ProblemNotice error={asked.error} onRetry={asked.reload} />;
  return (
    <ol className="transcript">
      {asked.data?.messages.map((message, index) => (
        // Messages are only ever added at the end.
        // oxlint-disable-next-line react/no-array-index-key
        <li key={index} className={`message ${message.role}`}>
          <div className="row small soft">
            <strong>{message.role}</strong> <span>turn {message.turn}</span>
          </div>
          {message.content !== '' && <TextBlock text={message.content} label={`Message of the ${message.role}`} />}
          {message.tool_calls?.map((call) => (
            <div key={call.id}>
              <p className="small soft">
                calls <strong>{call.tool}</strong>
              </p>
              <TextBlock text={JSON.stringify(call.input, null, 2)} label={`Input of ${call.tool}`} />
            </div>
          ))}
        </li>
      ))}
      {asked.data?.hasMore && (
        <li>
          <button className="button" type="button" onClick={() => setPages(pages + 1)}>
            Show more
          </button>
        </li>
      )}
    </ol>
  );
}
