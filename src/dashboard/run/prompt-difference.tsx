import { useState } from 'react';
import type { Prompt } from '../../client/views.ts';
import { SecondwindError } from '../../protocol/errors.ts';
import { ProblemNotice } from '../parts/problem.tsx';
import { visibleText } from '../parts/text.tsx';
import { useSession } from '../shell/session.ts';
import { useAsked } from '../shell/use-asked.ts';
import { type ComparedMessage, comparePrompts, type Line } from './difference.ts';

/** Equal lines around a change that are shown. The rest is counted. */
const CONTEXT_LINES = 2;
/** More lines of one message are shown on demand, because a prompt can have megabytes. */
const MAX_LINES = 400;

/** The requests to the model; null if the agent has no model, undefined while they are loaded. */
export function usePrompts(runId: string, version: number): { prompts: Prompt[] | null | undefined; error: unknown } {
  const { client } = useSession();
  const { data, error } = useAsked((signal) => client.runs.prompts(runId, {}, { signal }), [client, runId, version]);
  if (error instanceof SecondwindError && error.code === 'no_transcript') return { prompts: null, error: undefined };
  return { prompts: data, error };
}

/** The whole prompt of a request, against the one before it: what the model was sent, and what changed. */
export function PromptDifference({ runId, request }: { runId: string; request: number }) {
  const { client } = useSession();
  const { data, error, reload } = useAsked(
    (signal) => client.runs.prompts(runId, { request }, { signal }),
    [client, runId, request],
  );
  if (error !== undefined) return <ProblemNotice error={error} onRetry={reload} />;
  const own = data?.find((prompt) => prompt.request === request);
  if (own === undefined)
    return <p className="faint">{data === undefined ? 'Loading…' : 'There is no such request.'}</p>;
  const before = data?.find((prompt) => prompt.request === request - 1);
  const messages = comparePrompts(before?.messages ?? [], own.messages ?? []);
  const same = messages.filter(({ mark }) => mark === 'same');
  return (
    <div className="prompt">
      <p className="small soft">
        {before === undefined
          ? 'This is the first request, so everything in it is new.'
          : `Against request ${before.request}: ${messages.length - same.length} messages differ, ${same.length} are the same.`}
      </p>
      <ol aria-label={`Prompt of request ${request}`}>
        {messages.map((message, index) => (
          // Messages of one prompt have no other name than their place.
          // oxlint-disable-next-line react/no-array-index-key
          <MessageDifference key={index} message={message} />
        ))}
      </ol>
    </div>
  );
}

const WORDS: Record<ComparedMessage['mark'], string> = {
  same: 'the same',
  added: 'new',
  removed: 'no longer sent',
  changed: 'changed',
};

function MessageDifference({ message }: { message: ComparedMessage }) {
  const { role, mark, lines } = message;
  const [isOpen, setOpen] = useState(mark !== 'same');
  const [most, setMost] = useState(MAX_LINES);
  const shown = mark === 'changed' ? foldSame(lines) : lines;
  return (
    <li className={`prompt-message ${mark}`}>
      <button className="button plain small" type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span aria-hidden="true">{isOpen ? '▾' : '▸'}</span> <strong>{role}</strong>{' '}
        <span className="soft">
          {WORDS[mark]}, {lines.length === 1 ? '1 line' : `${lines.length.toLocaleString('en')} lines`}
        </span>
      </button>
      {isOpen && (
        <pre className="text-block difference" tabIndex={0} role="region" aria-label={`${role}, ${WORDS[mark]}`}>
          {shown.slice(0, most).map((line, index) => (
            // oxlint-disable-next-line react/no-array-index-key -- lines of one text
            <span key={index} className={line.mark}>
              {SIGNS[line.mark]} {visibleText(line.text.slice(0, 4_000))}
              {'\n'}
            </span>
          ))}
        </pre>
      )}
      {isOpen && shown.length > most && (
        <button className="button plain small" type="button" onClick={() => setMost(most + 10 * MAX_LINES)}>
          Show more ({(shown.length - most).toLocaleString('en')} lines left)
        </button>
      )}
    </li>
  );
}

type Shown = Line | { mark: 'fold'; text: string };
const SIGNS: Record<Shown['mark'], string> = { same: ' ', added: '+', removed: '−', fold: '⋯' };

/** Leaves out equal lines that are not near a change. */
function foldSame(lines: readonly Line[]): Shown[] {
  const isNear = lines.map((_, index) =>
    lines.slice(Math.max(0, index - CONTEXT_LINES), index + CONTEXT_LINES + 1).some(({ mark }) => mark !== 'same'),
  );
  const shown: Shown[] = [];
  let folded = 0;
  const flush = (): void => {
    if (folded > 0) shown.push({ mark: 'fold', text: folded === 1 ? '1 equal line' : `${folded} equal lines` });
    folded = 0;
  };
  for (const [index, line] of lines.entries()) {
    if (isNear[index]) {
      flush();
      shown.push(line);
    } else folded += 1;
  }
  flush();
  return shown;
}
