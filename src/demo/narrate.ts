import pc from 'picocolors';
import type { RunEvent } from '../client/index.ts';
import type { GuidanceRow } from '../protocol/tools.ts';

/** Tells a run to a person. Guidance that has been read once is not read out again, though every attempt sees it. */
export function createNarrator(say: (line: string) => void): (event: RunEvent) => void {
  const told = new Set<string>();
  return (event) => {
    const rows = event.event === 'guidance_shown' ? event.rows.filter(({ text }) => !told.has(text)) : [];
    for (const { text } of rows) told.add(text);
    const line = narrate(event.event === 'guidance_shown' ? { ...event, rows } : event);
    if (line !== null && line !== '') say(line);
  };
}

/** One event as the line that a person reads, or null when there is nothing to say. Every figure comes from the event. */
function narrate(event: RunEvent): string | null {
  switch (event.event) {
    case 'step_started':
      return `${pc.dim('·')} step ${event.step_id}: ${event.tool}`;
    case 'attempt_ended':
      return attempt(event);
    case 'failure_recorded':
      return `  ${pc.red('recorded')} ${event.fingerprint}`;
    case 'guidance_shown':
      return event.rows.map(guidance).join('\n');
    case 'question_asked':
      return `${pc.yellow('?')} ${event.text}\n  ${pc.dim(`options: ${event.options.join(', ')}; deadline ${event.deadline}`)}`;
    case 'answered':
      return `  ${pc.yellow(event.kind)} ${event.decision ?? ''} ${pc.dim(event.by === null ? '' : `by ${event.by}`)}`;
    case 'waiting':
      return event.reason === 'back_off' ? `  ${pc.dim(`waits ${event.wait_ms} ms`)}` : null;
    case 'run_started':
    case 'review':
    case 'decision':
    case 'run_ended':
      return null;
  }
}

function guidance({ reflection_id, text, why }: GuidanceRow): string {
  const label = reflection_id === undefined ? pc.yellow('guidance') : pc.green('lesson');
  return `  ${label} ${text} ${pc.dim(`(${why})`)}`;
}

function attempt(event: Extract<RunEvent, { event: 'attempt_ended' }>): string {
  const name = `attempt ${event.attempt} of step ${event.step_id}`;
  if (event.outcome === 'ok') return `${pc.green('✓')} ${name}`;
  if (event.outcome === 'cancelled') return `${pc.dim('–')} ${name} cancelled`;
  const { failure } = event;
  if (failure === undefined) return `${pc.red('✗')} ${name}`;
  const mark = failure.origin === 'infrastructure' ? pc.yellow('!') : pc.red('✗');
  return `${mark} ${name}: ${failure.error_code} ${pc.dim(failure.message_preview)}`;
}
