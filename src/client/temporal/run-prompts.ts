import type { Prompt } from '../views.ts';
import { loadMessages, readTurns, show, storeOf, type TranscriptDeps } from './run-transcript.ts';

/**
 * Lists the requests that a run sent to its model. With `request`, returns that one and the one before it, each with all its messages as
 * they were sent, so that a reader can compare them. Throws `no_transcript` if the agent has no model.
 */
export async function runPrompts(
  deps: TranscriptDeps,
  runId: string,
  { request }: { request?: number },
): Promise<Prompt[]> {
  const turns = await readTurns(deps, runId);
  const all = turns.map(({ turn, attempt, at }, index): Prompt => ({ request: index + 1, turn, attempt, at }));
  if (request === undefined) return all;
  const from = Math.max(0, request - 2);
  const wanted = turns.slice(from, request);
  const loaded = await loadMessages(storeOf(deps), wanted);
  return wanted.map(({ index, turn, attempt, at }, place) => ({
    request: from + place + 1,
    turn,
    attempt,
    at,
    messages: loaded.sent(index).map((message) => show(message, turn, deps.redact)),
  }));
}
