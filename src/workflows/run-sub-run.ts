import { ChildWorkflowFailure, WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { ParentClosePolicy, startChild, WorkflowIdReusePolicy, workflowInfo } from '@temporalio/workflow';
import { withinGrant } from '../core/bound/within-grant.ts';
import { defined } from '../protocol/json.ts';
import { workflowIdOfRun } from '../protocol/ids.ts';
import { MEMO, MESSAGE, WORKFLOW_TYPE } from '../protocol/names.ts';
import type { PreparedRun, RunResult } from '../protocol/run.ts';
import type { SubRunOutcome, SubRunRequest } from '../protocol/sub-runs.ts';
import type { AgentRunInput } from './agent-run-input.ts';

/**
 * Runs another agent as a child workflow. It is stopped by a message and not by Temporal's cancel, so that it still
 * reports what it used. Temporal cancels it only when its parent has ended.
 */
export async function runSubRun(
  { sub_run_id, agent, tenant, goal, input, grant, effects, ...place }: SubRunRequest,
  now: () => number,
  onStop: (stop: () => void) => () => void,
): Promise<SubRunOutcome> {
  const startedAt = now();
  const took = (): number => now() - startedAt;
  const given: AgentRunInput = {
    agent,
    goal,
    input,
    ...defined({ tenant }),
    parent_run_id: place.run_id,
    options: { sub_run: { grant, effects, place } },
  };
  let forget = (): void => {};
  try {
    let isStopped = false;
    forget = onStop(() => (isStopped = true));
    const child = await startChild<(given: AgentRunInput) => Promise<RunResult>>(WORKFLOW_TYPE.agentRun, {
      workflowId: workflowIdOfRun(sub_run_id),
      args: [given],
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
      memo: { [MEMO.agent]: agent, [MEMO.goal]: goal, ...defined({ [MEMO.tenant]: tenant }) },
      staticSummary: goal.slice(0, 200),
    });
    forget();
    const stop = (): void => {
      // The signal fails if the child has just ended, and then no cancel is needed.
      child.signal(MESSAGE.cancelRun, { by: `run ${place.run_id}`.slice(0, 128) }).catch(() => undefined);
    };
    forget = onStop(stop);
    if (isStopped) stop();
    return { class: 'ended', result: await child.result(), duration_ms: took() };
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) {
      return { class: 'not_started', why: `a run with the id ${sub_run_id} already exists`, duration_ms: took() };
    }
    if (!(error instanceof ChildWorkflowFailure)) throw error;
    const why = error.cause?.message ?? error.message;
    return { class: 'lost', why: `its run ${sub_run_id} ended without a result: ${why}`, duration_ms: took() };
  } finally {
    forget();
  }
}

/**
 * The run as the sub-run that it is: within the budget that its parent granted, and knowing what its parent knows about
 * effects. Both are accepted only from a parent workflow that is a run.
 */
export function asSubRun(prepared: PreparedRun, input: AgentRunInput): PreparedRun {
  const isChildOfRun = workflowInfo().parent?.workflowId.startsWith(workflowIdOfRun('')) === true;
  const sub = isChildOfRun ? input.options?.sub_run : undefined;
  if (sub === undefined) return prepared;
  const run = withinGrant(prepared, sub.grant);
  // An older build started the sub-run without it.
  return sub.effects === undefined ? run : { ...run, inherited: sub.effects };
}
