import { previewQuestion } from '../../core/redaction/preview-question.ts';
import type { Redact } from '../../core/redaction/redact.ts';
import type { PendingQuestion } from '../../protocol/questions.ts';
import type { RunEvent } from '../history/run-event.ts';
import type { RunPage } from '../views.ts';
import type { StatusReading } from './run-status.ts';

/** Every place where a question leaves this process for a person. */

const previewPending = <T extends { pending_question?: PendingQuestion }>(shown: T, redact: Redact): T =>
  shown.pending_question === undefined
    ? shown
    : { ...shown, pending_question: previewQuestion(shown.pending_question, redact) };

export const previewStatus = ({ status, byRun }: StatusReading, redact: Redact): StatusReading => ({
  status: previewPending(status, redact),
  byRun,
});

export const previewRuns = ({ runs, next_cursor }: RunPage, redact: Redact): RunPage => ({
  runs: runs.map((run) => previewPending(run, redact)),
  next_cursor,
});

export const previewEvent = (event: RunEvent, redact: Redact): RunEvent =>
  event.event === 'question_asked' ? previewQuestion(event, redact) : event;

export async function* previewEvents(events: AsyncIterable<RunEvent>, redact: Redact): AsyncGenerator<RunEvent> {
  for await (const event of events) yield previewEvent(event, redact);
}
