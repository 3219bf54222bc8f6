import { type Client, WorkflowFailedError, WorkflowNotFoundError } from '@temporalio/client';
import type { Agent } from '../define/define-agent.ts';
import { problemsOf } from '../define/problems.ts';
import { QUERY } from '../protocol/names.ts';
import { workflowIdOfRun } from '../protocol/ids.ts';
import type { RunResult } from '../protocol/run.ts';
import { RunNotFoundError, SecondwindError } from './errors.ts';
import type { RunArchiveReader } from './run-status.ts';

/**
 * Waits for a run's typed ending. A workflow that was closed as cancelled carries no result, so that ending is asked of
 * the run itself, and then of the archive.
 */
export async function endOfRun(client: Client, runId: string, archive?: RunArchiveReader): Promise<RunResult> {
  const handle = client.workflow.getHandle(workflowIdOfRun(runId));
  try {
    return (await handle.result()) as RunResult;
  } catch (error) {
    const archived = await archive?.get(runId);
    if (archived) return (archived.summary as { result: RunResult }).result;
    if (error instanceof WorkflowNotFoundError) throw new RunNotFoundError(runId, error);
    if (error instanceof WorkflowFailedError) return askRun(client, runId, error);
    throw error;
  }
}

/**
 * The ending with its output as the agent's schema has it. A run that did not complete may hand back something else, such as
 * the output of its last step: then there is no typed result, and the untyped one still has it.
 */
export function typedResult<Output>(ended: RunResult, agent: Agent<Output> | undefined): RunResult<Output> {
  // Without a schema whatever JSON there is is what was asked for.
  if (agent?.output === undefined || ended.result === null) return ended as RunResult<Output>;
  const parsed = agent.output.safeParse(ended.result.output);
  if (parsed.success) return { ...ended, result: { ...ended.result, output: parsed.data } };
  if (ended.outcome !== 'completed') return { ...ended, result: null };
  const [first] = problemsOf(parsed.error);
  throw new SecondwindError(
    'other_output',
    `The output of the run ${ended.run_id} does not fit the agent ${agent.name}: ${first?.path} ${first?.message}.`,
    'Read it without the agent, or with the version of the agent that it ran with.',
  );
}

async function askRun(client: Client, runId: string, cause: unknown): Promise<RunResult> {
  const handle = client.workflow.getHandle(workflowIdOfRun(runId));
  const result = await handle.query<RunResult | null>(QUERY.result);
  if (result !== null) return result;
  throw new SecondwindError('no_result', `The run ${runId} ended without a result.`, 'Look at its history.', cause);
}
