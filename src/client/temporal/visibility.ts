import type { Client } from '@temporalio/client';
import { defined } from '../../protocol/json.ts';
import { runIdOfWorkflow } from '../../protocol/ids.ts';
import { MEMO, SEARCH_ATTRIBUTE, WORKFLOW_TYPE } from '../../protocol/names.ts';
import type { RunLifeState, RunOutcome } from '../../protocol/run.ts';
import { SecondwindError } from '../../protocol/errors.ts';
import type { ListedRun } from '../views.ts';
import { decodeAnswer } from '../decode-answer.ts';
import { asCount, decodeJson, asText, asTexts, toTime } from '../history/history-event.ts';
import { readQuestion } from '../history/read-question.ts';
import { isInvalidArgument } from './grpc-errors.ts';

type ListAnswer = Awaited<ReturnType<Client['workflowService']['listWorkflowExecutions']>>;
type Listed = ListAnswer['executions'][number];

export interface VisibilityPage {
  runs: ListedRun[];
  token: Uint8Array | null;
}

/** A run can have several executions (continue-as-new); only the latest is listed. */
const RUNS = `WorkflowType = '${WORKFLOW_TYPE.agentRun}' AND ExecutionStatus != 'ContinuedAsNew'`;
export const IS_OPEN = `ExecutionStatus = 'Running'`;
export const IS_CLOSED = `ExecutionStatus != 'Running'`;

/**
 * Quotes a text for Temporal's list filter. On SQLite a filter with a double quote fails and one with a backslash finds nothing, so
 * these characters are replaced by one that no run has.
 */
export const quoted = (text: string): string => `'${text.replaceAll(/["\\]/g, '\u0001').replaceAll("'", "''")}'`;

/** Lists runs, open ones first, then by close time. Temporal offers no other order. */
export async function visibleRuns(
  client: Client,
  where: readonly string[],
  page: { size: number; token?: Uint8Array | null },
): Promise<VisibilityPage> {
  try {
    const answer = await client.workflowService.listWorkflowExecutions({
      namespace: client.options.namespace,
      pageSize: page.size,
      ...(page.token ? { nextPageToken: page.token } : {}),
      query: [RUNS, ...where].join(' AND '),
    });
    const token = answer.nextPageToken;
    await decodeAnswer(client, answer.executions, { skipUnknownKeys: true });
    return { runs: answer.executions.flatMap(listedRun), token: token && token.length > 0 ? token : null };
  } catch (error) {
    if (isInvalidArgument(error)) throw badCursor(error);
    throw error;
  }
}

export async function countRuns(
  client: Client,
  searchAttributes: boolean,
): Promise<{ open: number; waiting_for_human: number | null }> {
  const count = async (...where: string[]): Promise<number> => {
    const query = [RUNS, IS_OPEN, ...where].join(' AND ');
    const { namespace } = client.options;
    return Number((await client.workflowService.countWorkflowExecutions({ namespace, query })).count);
  };
  const [open, waiting] = await Promise.all([
    count(),
    searchAttributes ? count(`${SEARCH_ATTRIBUTE.state} = 'waiting_for_human'`) : null,
  ]);
  return { open, waiting_for_human: waiting };
}

export const badCursor = (cause?: unknown): SecondwindError =>
  new SecondwindError('bad_cursor', 'The cursor does not belong to this list.', 'Start again without a cursor.', cause);

function listedRun(execution: Listed): ListedRun[] {
  const runId = runIdOfWorkflow(execution.execution?.workflowId ?? '');
  if (runId === null) return [];
  const memo = (name: string) => decodeJson(execution.memo?.fields?.[name]);
  const attribute = (name: string) => decodeJson(execution.searchAttributes?.indexedFields?.[name]);
  const endedAt = toTime(execution.closeTime);
  const question = readQuestion(memo(MEMO.pendingQuestion));
  const isAsking = endedAt === null && question !== null;
  return [
    {
      run_id: runId,
      agent: asText(attribute(SEARCH_ATTRIBUTE.agent)) || asText(memo(MEMO.agent)),
      goal: asText(memo(MEMO.goal)),
      state: endedAt === null ? openState(attribute(SEARCH_ATTRIBUTE.state), isAsking) : 'ended',
      ...(endedAt === null ? {} : { outcome: readOutcome(memo(MEMO.outcome), execution.status) }),
      labels: asTexts(attribute(SEARCH_ATTRIBUTE.label)),
      ...defined({ tenant: asText(memo(MEMO.tenant)) || undefined }),
      attempts: asCount(attribute(SEARCH_ATTRIBUTE.attempts)),
      ...(isAsking ? { pending_question: question } : {}),
      started_at: toTime(execution.startTime) ?? '1970-01-01T00:00:00.000Z',
      ended_at: endedAt,
    },
  ];
}

function openState(published: unknown, isAsking: boolean): RunLifeState {
  // Without our search attributes, the memo still shows whether a question is open.
  const state = asText(published) as RunLifeState | '';
  if (state === '') return isAsking ? 'waiting_for_human' : 'running';
  // The end is published a moment before the workflow closes.
  return state === 'ended' ? 'stopping' : state;
}

/** Temporal's status numbers for cancelled and terminated. */
const STOPPED_FROM_OUTSIDE = new Set<unknown>([4, 5]);
const readOutcome = (published: unknown, status: unknown): RunOutcome =>
  (asText(published) || (STOPPED_FROM_OUTSIDE.has(status) ? 'cancelled' : 'system_error')) as RunOutcome;
