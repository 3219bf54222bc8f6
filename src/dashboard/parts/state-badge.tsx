import type { RunLifeState, RunOutcome } from '../../protocol/run.ts';

type Look = readonly [tone: 'good' | 'bad' | 'warn' | 'live' | '', mark: string, word: string];

const STATES: Record<Exclude<RunLifeState, 'ended'>, Look> = {
  running: ['live', '▶', 'running'],
  backing_off: ['live', '◷', 'backing off'],
  waiting_for_human: ['warn', '?', 'waiting for you'],
  reviewing: ['live', '◎', 'reviewing'],
  stopping: ['warn', '■', 'stopping'],
};
const OUTCOMES: Record<RunOutcome, Look> = {
  completed: ['good', '✓', 'completed'],
  finalized: ['warn', '◼', 'finalized'],
  system_error: ['bad', '✕', 'failed'],
  budget_exhausted: ['bad', '◔', 'budget used up'],
  cancelled: ['', '–', 'cancelled'],
};

export const stateWord = (state: RunLifeState, outcome?: RunOutcome): string => lookOf(state, outcome)[2];

const lookOf = (state: RunLifeState, outcome: RunOutcome | undefined): Look =>
  state === 'ended' ? (outcome === undefined ? ['', '–', 'ended'] : OUTCOMES[outcome]) : STATES[state];

/** The state of a run as a word and a mark; the colour only helps. */
export function StateBadge({ state, outcome }: { state: RunLifeState; outcome?: RunOutcome | undefined }) {
  const [tone, mark, word] = lookOf(state, outcome);
  return (
    <span className={`badge ${tone}`} data-mark={mark}>
      {word}
    </span>
  );
}
