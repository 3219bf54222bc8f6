import { previewChanges } from '../../core/redaction/preview-changes.ts';
import { previewQuestion } from '../../core/redaction/preview-question.ts';
import type { Redact } from '../../core/redaction/redact.ts';
import type { InputChange, PendingQuestion } from '../../protocol/questions.ts';
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

export function previewEvent(event: RunEvent, redact: Redact): RunEvent {
  if (event.event === 'question_asked') return previewQuestion(event, redact);
  return event.event === 'answered' ? previewAnswer(event, redact) : event;
}

/** Also of what a person changed: the event, and the answer of the run to the person. */
export const previewAnswer = <T extends { changes?: InputChange[] }>(answer: T, redact: Redact): T =>
  answer.changes === undefined ? answer : { ...answer, changes: previewChanges(answer.changes, redact) };

export async function* previewEvents(events: AsyncIterable<RunEvent>, redact: Redact): AsyncGenerator<RunEvent> {
  for await (const event of events) yield previewEvent(event, redact);
}
