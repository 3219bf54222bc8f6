import { colours } from '../show/colours.ts';
import type { RunEvent } from '../../client/history/run-event.ts';
import type { GuidanceRow } from '../../protocol/tools.ts';

/** Prints the events of a run for people. Guidance that was printed once is not printed again. */
export function createNarrator(say: (line: string) => void): (event: RunEvent) => void {
  const told = new Set<string>();
  return (event) => {
    const rows = event.event === 'guidance_shown' ? event.rows.filter(({ text }) => !told.has(text)) : [];
    for (const { text } of rows) told.add(text);
    const line = narrate(event.event === 'guidance_shown' ? { ...event, rows } : event);
    if (line !== null && line !== '') say(line);
  };
}

/** Returns the line for one event, or null if it needs none. */
function narrate(event: RunEvent): string | null {
  switch (event.event) {
    case 'step_started':
      return `${colours.dim('·')} step ${event.step_id}: ${event.tool}`;
    case 'attempt_ended':
      return attempt(event);
    case 'failure_recorded':
      return `  ${colours.red('recorded')} ${event.fingerprint}`;
    case 'guidance_shown':
      return event.rows.map(guidance).join('\n');
    case 'question_asked':
      return `${colours.yellow('?')} ${event.text}\n  ${colours.dim(`options: ${event.options.join(', ')}; deadline ${event.deadline}`)}`;
    case 'answered':
      return `  ${colours.yellow(event.kind)} ${event.decision ?? ''} ${colours.dim(event.by === null ? '' : `by ${event.by}`)}`;
    case 'waiting':
      return event.reason === 'back_off' ? `  ${colours.dim(`waits ${event.wait_ms} ms`)}` : null;
    case 'run_started':
    case 'sub_run_joined':
    case 'review':
    case 'decision':
    case 'run_ended':
      return null;
  }
}

function guidance({ reflection_id, text, why }: GuidanceRow): string {
  const label = reflection_id === undefined ? colours.yellow('guidance') : colours.green('lesson');
  return `  ${label} ${text} ${colours.dim(`(${why})`)}`;
}

function attempt(event: Extract<RunEvent, { event: 'attempt_ended' }>): string {
  const name = `attempt ${event.attempt} of step ${event.step_id}`;
  if (event.outcome === 'ok') return `${colours.green('✓')} ${name}`;
  if (event.outcome === 'cancelled') return `${colours.dim('–')} ${name} cancelled`;
  const { failure } = event;
  if (failure === undefined) return `${colours.red('✗')} ${name}`;
  const mark = failure.origin === 'infrastructure' ? colours.yellow('!') : colours.red('✗');
  return `${mark} ${name}: ${failure.error_code} ${colours.dim(failure.message_preview)}`;
}
