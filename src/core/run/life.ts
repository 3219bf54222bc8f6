import type { Json } from '../../protocol/json.ts';
import type { Decision, QuestionKind } from '../../protocol/questions.ts';
import type { RunLifeState, RunOutcome, RunResult } from '../../protocol/run.ts';
import type { RunState } from './state.ts';

/** Where a run is in its life. Each part has exactly the data that belongs to it. */
export type Life =
  /** Started from the bare `temporal` command line; an activity still resolves agent, plan and tools. */
  | { is: 'preparing' }
  | { is: 'running'; reviewing?: true }
  | { is: 'waiting'; question: OpenQuestion }
  /** Cancelled: the work under way is being stopped. */
  | { is: 'stopping'; cancel: Cancel }
  /** The outcome is decided; what is under way finishes and is saved. */
  | { is: 'closing'; ending: Ending }
  | { is: 'ended'; result: RunResult };

export interface Cancel {
  by: string;
  reason: string;
  at: number;
}

export interface Ending {
  outcome: RunOutcome;
  reason: string;
  why: string;
}

/** A question as the state keeps it. `describeQuestion` adds what people see of the step and the ledger. */
export interface OpenQuestion {
  question_id: string;
  kind: QuestionKind;
  text: string;
  fingerprint?: string;
  /** The step that it is about; null for the planner and for a pass. */
  step_id: number | null;
  tool?: string;
  tried: string[];
  options: Decision[];
  asked_at: string;
  deadline: string;
  /** How many people of the chain have been asked in addition. */
  escalation: number;
  answer: { decision: Decision; text: string | null; by: string; output?: Json; input?: Json } | null;
}

/** True when the run is stopping, closing or ended, so no new work may start. */
export const isOver = ({ life }: RunState): boolean =>
  life.is === 'stopping' || life.is === 'closing' || life.is === 'ended';

export const isCancelled = ({ life }: RunState): boolean => life.is === 'stopping';

export const openQuestion = ({ life }: RunState): OpenQuestion | null => (life.is === 'waiting' ? life.question : null);

export const resultOfRun = ({ life }: RunState): RunResult | null => (life.is === 'ended' ? life.result : null);

/** The outcome, or undefined while it is not decided. */
export function decidedOutcome({ life }: RunState): RunOutcome | undefined {
  if (life.is === 'closing') return life.ending.outcome;
  return life.is === 'ended' ? life.result.outcome : undefined;
}

/** The state as the API names it. `backing_off` is set by `statusOf`, because it depends on the step under way. */
export function toWireState({ life }: RunState): RunLifeState {
  switch (life.is) {
    case 'preparing':
      return 'running';
    case 'running':
      return life.reviewing === true ? 'reviewing' : 'running';
    case 'waiting':
      return 'waiting_for_human';
    case 'stopping':
      return 'stopping';
    case 'closing':
      return life.ending.outcome === 'cancelled' ? 'stopping' : 'running';
    case 'ended':
      return 'ended';
  }
}

/** Decides the outcome of the run. Only the first decision counts: a later one, or a cancel, does not change it. */
export function endWith(state: RunState, ending: Ending): void {
  if (isOver(state)) return;
  closeQuestion(state);
  state.life = { is: 'closing', ending };
}

export function endForBudget(state: RunState, budget: string): void {
  endWith(state, {
    outcome: 'budget_exhausted',
    reason: budget,
    why: `the run has used up its budget of ${budget.replaceAll('_', ' ')}`,
  });
}

/** Starts to stop the run. Returns false when the run is already ending. */
export function cancel(state: RunState, request: Cancel): boolean {
  if (isOver(state)) return false;
  closeQuestion(state);
  state.life = { is: 'stopping', cancel: request };
  return true;
}

/** Closes the open question. A later answer is refused with the reason that the question has ended. */
export function closeQuestion(state: RunState): void {
  const question = openQuestion(state);
  if (question === null) return;
  state.people.closed_questions.push(question.question_id);
  state.life = { is: 'running' };
}
