/** Counts that a run keeps for the monitors. They decide nothing. */
import type { RunFigures } from '../../protocol/run-metrics.ts';
import type { QuestionKind } from '../../protocol/questions.ts';
import type { RunOutcome } from '../../protocol/run.ts';
import { type Step, statusOfStep } from './attempts.ts';
import type { RunState } from './state.ts';

export interface FigureCounts {
  approvals: number;
  held_calls: number;
  retrievals: number;
  with_evidence: number;
  /** What tools said that their attempts cost. The budget counts only what models cost. */
  tool_cost_micro_usd: number;
  /** Numbers the decisions of guards. */
  decisions: number;
  /** What the run had used when it made progress last. */
  progress: RunFigures['waste'];
}

const NOTHING: RunFigures['waste'] = { attempts: 0, ms: 0, cost_micro_usd: 0 };

export function countsOf({ ledger }: RunState): FigureCounts {
  ledger.figures ??= {
    approvals: 0,
    held_calls: 0,
    retrievals: 0,
    with_evidence: 0,
    tool_cost_micro_usd: 0,
    decisions: 0,
    progress: NOTHING,
  };
  return ledger.figures;
}

export function countQuestion(state: RunState, kind: QuestionKind): void {
  if (kind === 'approval') countsOf(state).approvals += 1;
}

/** Adds what the new attempts of a tool cost. The turns of a planner are charged to the budget. */
export function countCost(state: RunState, step: Step): void {
  if (step.kind !== 'tool') return;
  const cost = step.attempts
    .slice(step.attempts_read)
    .reduce((sum, { outcome }) => sum + (outcome?.cost_micro_usd ?? 0), 0);
  if (cost > 0) countsOf(state).tool_cost_micro_usd += cost;
}

/** Counts a step that is over: calls that were held, and retrievals. */
export function countStep(state: RunState, step: Step): void {
  if (step.end?.kind === 'guided') countsOf(state).held_calls += 1;
  if (state.run.manifest[step.call.tool]?.kind !== 'retrieval') return;
  const status = statusOfStep(step);
  if (status !== 'ok' && status !== 'failed') return;
  const counts = countsOf(state);
  counts.retrievals += 1;
  // A retrieval without evidence, or with too little confidence, is a failed step.
  if (status === 'ok') counts.with_evidence += 1;
}

/**
 * Notes what the run has used up to its latest progress. In the first pass a call with a new result is progress; later passes repeat the
 * work of the first, so only a better review is.
 */
export function noteProgressOfStep(state: RunState, step: Step): void {
  if (state.earlier.best !== null) return;
  const last = step.attempts.at(-1);
  const endedAt = last === undefined ? state.updated_at : last.at + (last.outcome?.duration_ms ?? 0);
  noteProgressAt(state, endedAt);
}

export function noteProgressAt(state: RunState, now: number): void {
  const { attempts } = state.ledger.used;
  const counts = countsOf(state);
  counts.progress = { attempts, cost_micro_usd: costOf(state), ms: Math.max(counts.progress.ms, workMs(state, now)) };
}

const costOf = ({ ledger }: RunState): number =>
  ledger.used.cost_micro_usd + (ledger.figures?.tool_cost_micro_usd ?? 0);

const workMs = ({ started_at, ledger }: RunState, now: number): number =>
  Math.max(0, Math.round(now - started_at - ledger.human_wait_ms));

/** The figures of a run that ends now. A completed run has wasted nothing, because its end is its progress. */
export function figuresAtEnd(state: RunState, outcome: RunOutcome, now: number): RunFigures {
  const { used, questions, figures } = state.ledger;
  const work_ms = workMs(state, now);
  const progress = figures?.progress ?? NOTHING;
  const cost_micro_usd = costOf(state);
  return {
    work_ms,
    cost_micro_usd,
    escalations: questions.asked - (figures?.approvals ?? 0),
    held_calls: figures?.held_calls ?? 0,
    retrievals: figures?.retrievals ?? 0,
    with_evidence: figures?.with_evidence ?? 0,
    waste:
      outcome === 'completed'
        ? NOTHING
        : {
            attempts: Math.max(0, used.attempts - progress.attempts),
            ms: Math.max(0, work_ms - progress.ms),
            cost_micro_usd: Math.max(0, cost_micro_usd - progress.cost_micro_usd),
          },
  };
}
