import type { RunEvent } from '../../client/history/run-event.ts';
import type { Runs } from '../../client/secondwind-client.ts';
import type { PendingQuestion } from '../../protocol/run.ts';
import { EXIT } from '../report-error.ts';
import { LiveLine } from '../show/live-line.ts';
import { oneLine } from '../show/text.ts';
import { exitCodeOfOutcome } from './exit-code.ts';
import { narrate, underWay } from './narrate.ts';

export interface FollowFlags {
  json?: boolean;
  /** Stays while the run waits for a person. */
  wait?: boolean;
}

/**
 * Tells a run as it happens: a line an event, or a JSON line. Leaves when it has ended, or when it waits for a person and
 * nobody asked to wait along; the run itself goes on either way.
 */
export async function followRun(runs: Runs, runId: string, flags: FollowFlags): Promise<number> {
  const leaving = new AbortController();
  const left = (): void => leaving.abort();
  process.once('SIGINT', left);
  const live = new LiveLine();
  const say = (text: string): void => live.above(() => void process.stdout.write(`${text}\n`));
  try {
    if (!flags.json) live.show('starting');
    for await (const event of runs.watch(runId, { signal: leaving.signal })) {
      const line = flags.json ? JSON.stringify({ run_id: runId, ...event }) : narrate(event);
      if (line !== null && line !== '') say(line);
      if (event.event === 'run_ended') return exitCodeOfOutcome(event.outcome);
      const doing = underWay(event);
      if (doing !== null && !flags.json) live.show(doing);
      const question = flags.wait ? undefined : await openQuestion(runs, runId, event);
      if (question !== undefined) {
        live.end();
        tellQuestion(runId, question);
        return EXIT.person;
      }
    }
    if (!leaving.signal.aborted) return await endOfForgotten(runs, runId, flags);
  } finally {
    live.end();
    process.removeListener('SIGINT', left);
  }
  process.stderr.write(`The run goes on. See it again: secondwind watch ${runId}\n`);
  return EXIT.failed;
}

/** A question of the past, which somebody has answered since, is only told. */
async function openQuestion(runs: Runs, runId: string, event: RunEvent): Promise<PendingQuestion | undefined> {
  if (event.event !== 'question_asked') return undefined;
  const { pending_question: open } = await runs.get(runId);
  return open?.question_id === event.question_id ? open : undefined;
}

/** On stderr, so that what stands on stdout are the events alone. */
export function tellQuestion(runId: string, { options, deadline }: PendingQuestion): void {
  process.stderr.write(
    `The run waits for a person until ${deadline}. Answer: secondwind answer ${runId} <${options.join('|')}>\n`,
  );
}

/** The events of a run whose history is gone are gone too; how it ended is not. */
async function endOfForgotten(runs: Runs, runId: string, flags: FollowFlags): Promise<number> {
  const status = await runs.get(runId);
  process.stdout.write(`${flags.json ? JSON.stringify(status) : oneLine(status.why)}\n`);
  return exitCodeOfOutcome(status.outcome ?? 'system_error');
}
