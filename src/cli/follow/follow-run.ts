import type { RunEvent } from '../../client/history/run-event.ts';
import type { HttpClient } from '../../client/http/http-client.ts';
import type { Runs } from '../../client/secondwind-client.ts';
import type { Json } from '../../protocol/json.ts';
import type { PendingQuestion } from '../../protocol/questions.ts';
import type { RunStatus } from '../../protocol/run.ts';
import { EXIT } from '../report-error.ts';
import { LiveLine } from '../show/live-line.ts';
import { resultLines } from '../show/result-lines.ts';
import { questionBlock } from '../show/question-lines.ts';
import { READABLE_WIDTH, terminalWidth } from '../show/table.ts';
import { oneLine } from '../show/terminal-text.ts';
import { exitCodeForOutcome } from './exit-code.ts';
import { narrate, currentActivity } from './narrate.ts';
import { StreamedAnswer } from './streamed-answer.ts';

export interface FollowFlags {
  json?: boolean;
  /** Keep following while the run waits for a person. */
  wait?: boolean;
}

/**
 * Prints the events of a run as they happen, as text or as JSON lines, and then its result. Returns when the run has ended, or when it
 * waits for a person and `wait` is not set. The run itself continues then.
 */
export async function followRun(remote: HttpClient, runId: string, flags: FollowFlags): Promise<number> {
  const { runs } = remote;
  const leaving = new AbortController();
  const left = (): void => leaving.abort();
  process.once('SIGINT', left);
  const live = new LiveLine();
  const say = (text: string): void => live.above(() => void process.stdout.write(`${text}\n`));
  try {
    if (!flags.json) live.show('starting');
    const answer = new StreamedAnswer();
    for await (const event of runs.watch(runId, { signal: leaving.signal, deltas: true })) {
      if (event.event === 'model_delta') {
        if (flags.json) say(JSON.stringify(event));
        else for (const line of answer.add(event)) say(line);
        if (!flags.json && answer.current !== '') live.show(answer.current);
        continue;
      }
      for (const line of answer.end()) say(line);
      const ended = event.event === 'run_ended' ? { result: await readResult(remote, runId) } : {};
      const line = flags.json ? JSON.stringify({ run_id: runId, ...event, ...ended }) : narrate(event);
      if (line !== null && line !== '') say(line);
      if (event.event === 'run_ended') {
        live.end();
        if (!flags.json) printResult(runId, ended.result ?? null);
        return exitCodeForOutcome(event.outcome);
      }
      const doing = currentActivity(event);
      if (doing !== null && !flags.json) live.show(doing);
      const question = await openQuestion(runs, runId, event);
      if (question !== undefined) {
        live.above(() => printQuestion(runId, question));
        if (flags.wait) continue;
        live.end();
        return EXIT.person;
      }
    }
    if (!leaving.signal.aborted) return await showDeletedRun(remote, runId, flags);
  } finally {
    live.end();
    process.removeListener('SIGINT', left);
  }
  process.stderr.write(`The run continues. Follow it again: secondwind watch ${runId}\n`);
  return EXIT.failed;
}

/** Returns the question only if it is still open, because events may be from the past. */
async function openQuestion(runs: Runs, runId: string, event: RunEvent): Promise<PendingQuestion | undefined> {
  if (event.event !== 'question_asked') return undefined;
  const { pending_question: open } = await runs.get(runId);
  return open?.question_id === event.question_id ? open : undefined;
}

/** Prints to stderr, so that stdout has only events. */
export function printQuestion(runId: string, question: PendingQuestion): void {
  const lines = questionBlock(runId, question, terminalWidth() ?? READABLE_WIDTH);
  process.stderr.write(`${lines.join('\n')}\n`);
}

type Result = NonNullable<RunStatus['result']>;

/** A large output is not part of the status; it is an artifact, which only an operator may read whole. */
async function readResult({ runs, api }: HttpClient, runId: string): Promise<Result | null> {
  const { result } = await runs.get(runId);
  if (!result || result.output !== null || result.artifact_id === null) return result ?? null;
  try {
    return { ...result, output: (await api.ask<Json>('GET', `/v1/artifacts/${result.artifact_id}`)).body };
  } catch {
    return result;
  }
}

function printResult(runId: string, result: Result | null): void {
  if (result === null) return;
  const { output, artifact_id } = result;
  const lines =
    output === null && artifact_id !== null
      ? [`The result is large: GET /v1/artifacts/${artifact_id}`]
      : resultLines(runId, output, terminalWidth());
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** A run whose history was deleted has no events, but its status is still known. */
async function showDeletedRun(remote: HttpClient, runId: string, flags: FollowFlags): Promise<number> {
  const status = await remote.runs.get(runId);
  process.stdout.write(`${flags.json ? JSON.stringify(status) : oneLine(status.why)}\n`);
  if (!flags.json) printResult(runId, await readResult(remote, runId));
  return exitCodeForOutcome(status.outcome ?? 'system_error');
}
