import { colours } from '../show/colours.ts';
import type { RunEvent } from '../../client/history/run-event.ts';
import { describeChanges } from '../../core/run/input-changes.ts';
import { duration, oneLine } from '../show/terminal-text.ts';

/** Returns the line for one event, or null if it needs none. */
export function narrate(event: RunEvent): string | null {
  switch (event.event) {
    case 'run_started':
      return `${colours.dim('·')} ${event.agent}: ${oneLine(event.goal)}`;
    case 'step_started':
      return `${colours.dim('·')} step ${event.step_id}: ${oneLine(event.tool)}${event.sub_run_id === undefined ? '' : `, as the run ${event.sub_run_id}`}`;
    case 'sub_run_joined':
      return `${colours.dim('·')} the run ${event.sub_run_id} works for this one`;
    case 'attempt_ended':
      return attempt(event);
    case 'failure_recorded':
      return null;
    case 'guidance_shown':
      return event.rows
        .map(
          (row) =>
            `  ${row.reflection_id === undefined ? colours.yellow('guidance') : colours.green('lesson')} ${oneLine(row.text)}`,
        )
        .join('\n');
    case 'waiting':
      return event.reason === 'back_off' ? `  ${colours.dim(`waits ${formatWait(event.wait_ms)}`)}` : null;
    case 'question_asked':
      return `${colours.yellow('?')} ${oneLine(event.text)}`;
    case 'answered': {
      const changed = event.changes === undefined ? '' : `, who changed ${describeChanges(event.changes)}`;
      const by = event.by === null ? '' : ` by ${event.by}${changed}`;
      return `  ${colours.yellow(event.kind)} ${oneLine(`${event.decision ?? ''}${by}`)}`;
    }
    case 'review':
      return event.source === 'person'
        ? `${colours.yellow('feedback')} of ${oneLine(event.by)}: ${oneLine(event.text)}`
        : null;
    case 'decision':
      return decision(event);
    case 'run_ended':
      return ending(event);
  }
}

/** Returns what the run does after this event, for the live line; null if that has not changed. */
export function currentActivity(event: RunEvent): string | null {
  switch (event.event) {
    case 'step_started':
      return `step ${event.step_id}: ${event.tool}`;
    case 'waiting':
      return event.reason === 'back_off' ? `backing off until ${event.until.slice(11, 19)} UTC` : null;
    case 'question_asked':
      return 'waiting for a person';
    case 'attempt_ended':
      return event.outcome === 'ok' ? 'between two steps' : `step ${event.step_id}: ${event.tool}, after a failure`;
    default:
      return null;
  }
}

const formatWait = (ms: number): string => (ms < 1_000 ? `${ms} ms` : duration(ms / 1_000));

function decision(event: Extract<RunEvent, { event: 'decision' }>): string | null {
  if (event.source === 'person') return `${colours.yellow(event.decision)} by ${oneLine(event.by)}`;
  const said = (name: string): string => (typeof event[name] === 'string' ? oneLine(event[name]) : 'no reason given');
  if (event.decision === 'rerun') return `${colours.dim('·')} another pass: ${said('rerun_reason_detail')}`;
  return event['force_finalize'] === true ? `${colours.yellow('no further pass')}: ${said('finalize_reason')}` : null;
}

function attempt(event: Extract<RunEvent, { event: 'attempt_ended' }>): string {
  const name = `attempt ${event.attempt} of step ${event.step_id}`;
  if (event.outcome === 'ok') return `${colours.green('✓')} ${name}`;
  if (event.outcome === 'cancelled') return `${colours.dim('–')} ${name} cancelled`;
  const { failure } = event;
  const what = failure === undefined ? '' : `: ${oneLine(`${failure.error_code} ${failure.message_preview ?? ''}`)}`;
  return `${failure?.origin === 'infrastructure' ? colours.yellow('!') : colours.red('✗')} ${name}${what}`;
}

function ending(event: Extract<RunEvent, { event: 'run_ended' }>): string {
  const paint =
    event.outcome === 'completed' ? colours.green : event.outcome === 'finalized' ? colours.yellow : colours.red;
  return `${paint(event.outcome)}: ${oneLine(event.why)}`;
}
