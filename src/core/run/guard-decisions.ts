import type { DecisionAction, GuardDecision } from '../../protocol/guard-decisions.ts';
import { CAP } from '../../protocol/caps.ts';
import { decisionId } from '../../protocol/ids.ts';
import { isoTime } from '../../protocol/time.ts';
import { countsOf } from './figures.ts';
import { keepLatest } from './outbox.ts';
import type { RunState } from './state.ts';
import type { Story } from './story.ts';

type Decided = Pick<GuardDecision, 'kind' | 'rule' | 'action' | 'why' | 'step_id' | 'fingerprint'>;

/** Queues a decision of a guard for the store, where people can say that it was wrong. */
export function recordDecision({ state, ports }: Pick<Story, 'state' | 'ports'>, decided: Decided): void {
  const counts = countsOf(state);
  counts.decisions += 1;
  state.outbox.decisions ??= [];
  state.outbox.decisions.push({
    decision_id: decisionId(state.run.run_id, counts.decisions),
    run_id: state.run.run_id,
    ...decided,
    why: decided.why.slice(0, CAP.messagePreviewChars),
    loop_id: state.loop.loop_id,
    at: isoTime(ports.now()),
  });
  keepLatest(state.outbox.decisions, CAP.outboxUses);
}

/** What a guard does in the mode of the run: in `observe` nothing, and without `enforce` it stops nothing. */
export const actionInMode = ({ run }: RunState, enforced: DecisionAction): DecisionAction =>
  run.policy.mode === 'enforce' ? enforced : run.policy.mode === 'guide' ? 'guide' : 'observe';
