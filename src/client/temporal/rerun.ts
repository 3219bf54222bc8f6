import type { Client } from '@temporalio/client';
import type { UnknownEffect } from '../../protocol/effects.ts';
import { workflowIdOfRun } from '../../protocol/ids.ts';
import { defined, type Json } from '../../protocol/json.ts';
import type { PreparedRun, RunRequest } from '../../protocol/run.ts';
import { RunNotFoundError, SecondwindError } from '../../protocol/errors.ts';
import type { Store } from '../../store/store.ts';
import { asFields, decodeFirst } from '../history/history-event.ts';
import { readHistory } from '../history/read-history.ts';
import { runResult } from './run-views.ts';

/** Reads the request of a run from the first event of its history, without its ids. */
export async function readRequest(client: Client, store: Store | undefined, runId: string): Promise<RunRequest> {
  try {
    for await (const [first] of readHistory(client, runId)) {
      const started = first?.workflowExecutionStartedEventAttributes;
      const input = asFields(decodeFirst(started?.input));
      // An earlier execution of the run was deleted, and the request with it.
      if (input['state'] !== undefined) break;
      return input['prepared'] === undefined ? requestFromInput(input) : requestFromPrepared(input['prepared']);
    }
  } catch (error) {
    if (!(error instanceof RunNotFoundError) || !(await store?.archivedRuns.get(runId))) throw error;
  }
  throw new SecondwindError(
    'not_repeatable',
    `The request of the run ${runId} is not known any more, because its history was deleted.`,
    'Start a new run with its goal and plan.',
  );
}

function requestFromPrepared(prepared: Json): RunRequest {
  const { agent, goal, input, plan, policy, labels, tenant } = prepared as unknown as PreparedRun;
  return {
    agent,
    goal,
    ...defined({ input: input ?? undefined, plan: plan ?? undefined }),
    // The complete policy, so that the new run has the same limits even if the agent's defaults have changed.
    policy,
    ...(labels.length === 0 ? {} : { labels }),
    ...defined({ tenant }),
  };
}

function requestFromInput(input: { [key: string]: Json }): RunRequest {
  const { run_id: _run, loop_id: _loop, parent_run_id: _parent, options: _options, ...request } = input;
  return request as unknown as RunRequest;
}

/** Effects of a run that has ended and of which it is unknown whether they happened. A run that is still open has none yet. */
export async function readUnknownEffects(
  client: Client,
  store: Store | undefined,
  runId: string,
): Promise<UnknownEffect[]> {
  const { status } = await client.workflow.getHandle(workflowIdOfRun(runId)).describe();
  if (status.name === 'RUNNING') return [];
  const result = await runResult(client, store, runId).catch((error: unknown) => {
    // A run that was terminated has no result, and can be started again all the same.
    if (error instanceof SecondwindError) return null;
    throw error;
  });
  return result?.effects?.unknown ?? [];
}
