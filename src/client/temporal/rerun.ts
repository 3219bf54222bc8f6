import type { Client } from '@temporalio/client';
import type { Json } from '../../protocol/json.ts';
import type { PreparedRun, RunRequest } from '../../protocol/run.ts';
import { RunNotFoundError, SecondwindError } from '../../protocol/errors.ts';
import type { Store } from '../../store/store.ts';
import { fieldsOf, firstOf } from '../history/history-event.ts';
import { readHistory } from '../history/read-history.ts';

/** What a run was asked for, from the very first event of its history, without what belongs to that run alone. */
export async function requestOf(client: Client, store: Store | undefined, runId: string): Promise<RunRequest> {
  try {
    for await (const [first] of readHistory(client, runId)) {
      const started = first?.workflowExecutionStartedEventAttributes;
      const input = fieldsOf(firstOf(started?.input));
      // An own execution before this one is gone: what it was started with is, too.
      if (input['state'] !== undefined) break;
      return input['prepared'] === undefined ? bareRequest(input) : requestOfPrepared(input['prepared']);
    }
  } catch (error) {
    if (!(error instanceof RunNotFoundError) || !(await store?.archivedRuns.get(runId))) throw error;
  }
  throw new SecondwindError(
    'not_repeatable',
    `The history of ${runId} is gone, and with it what the run was asked for.`,
    'Start a new run with its goal and plan.',
  );
}

function requestOfPrepared(prepared: Json): RunRequest {
  const { agent, goal, input, plan, policy, labels } = prepared as unknown as PreparedRun;
  return {
    agent,
    goal,
    ...(input === null ? {} : { input }),
    ...(plan === null ? {} : { plan }),
    // Whole, so that the new run has the same limits even where an agent's defaults have changed since.
    policy,
    ...(labels.length === 0 ? {} : { labels }),
  };
}

function bareRequest(input: { [key: string]: Json }): RunRequest {
  const { run_id: _run, loop_id: _loop, parent_run_id: _parent, options: _options, ...request } = input;
  return request as unknown as RunRequest;
}
