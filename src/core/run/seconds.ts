import { runningSeconds } from './ledger.ts';
import type { RunState } from './state.ts';

/** What is left of the run's time; its ledger is brought up to date on the way. */
export function millisecondsLeft(state: RunState, now: number): number {
  state.ledger.used.seconds = runningSeconds(state.started_at, now, state.ledger.human_wait_ms);
  return state.run.policy.budget.max_seconds * 1000 - (now - state.started_at - state.ledger.human_wait_ms);
}
