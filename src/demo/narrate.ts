import pc from 'picocolors';
import type { RunEvent } from '../client/index.ts';

/** One event as the line that a person reads, or null when there is nothing to say. Every figure comes from the event. */
export function narrate(event: RunEvent): string | null {
  switch (event.event) {
    case 'step_started':
      return `${pc.dim('·')} step ${event.step_id}: ${event.tool}`;
    case 'attempt_ended':
      return attempt(event);
    case 'failure_recorded':
      return `  ${pc.red('recorded')} ${event.fingerprint}`;
    case 'guidance_shown':
      return event.rows.map((row) => `  ${pc.yellow('guidance')} ${row.text} ${pc.dim(`(${row.why})`)}`).join('\n');
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

function attempt(event: Extract<RunEvent, { event: 'attempt_ended' }>): string {
  const name = `attempt ${event.attempt} of step ${event.step_id}`;
  if (event.outcome === 'ok') return `${pc.green('✓')} ${name}`;
  if (event.outcome === 'cancelled') return `${pc.dim('–')} ${name} cancelled`;
  const { failure } = event;
  if (failure === undefined) return `${pc.red('✗')} ${name}`;
  const mark = failure.origin === 'infrastructure' ? pc.yellow('!') : pc.red('✗');
  return `${mark} ${name}: ${failure.error_code} ${pc.dim(failure.message_preview)}`;
}
