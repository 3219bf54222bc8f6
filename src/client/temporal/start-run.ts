import { defined } from '../../protocol/json.ts';
import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  WorkflowIdConflictPolicy,
  WorkflowIdReusePolicy,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import { defineSearchAttributeKey, type SearchAttributePair, TypedSearchAttributes } from '@temporalio/common';
import { v7 as uuidV7 } from 'uuid';
import { withinGrant } from '../../core/bound/within-grant.ts';
import { familyOf } from '../../core/guardrails/loop-ids.ts';
import { prepareRun } from '../../define/prepare-run.ts';
import type { Registry } from '../../define/registry.ts';
import { IdempotencyConflictError, RunExistsError, RunNotFoundError, RunRequestError } from '../../protocol/errors.ts';
import type { InheritedEffects, UnknownEffect } from '../../protocol/effects.ts';
import { hashOfJson, sha256Hex, workflowIdOfRun } from '../../protocol/ids.ts';
import { BUDGET_MESSAGE, MEMO, SEARCH_ATTRIBUTE, WORKFLOW_TYPE } from '../../protocol/names.ts';
import type { PreparedRun } from '../../protocol/run.ts';
import type { Grant, Loan } from '../../protocol/sub-runs.ts';
import { loadStartMemory } from '../../store/start-memory.ts';
import type { Store } from '../../store/store.ts';
import type { AgentRunInput, AgentRunOptions } from '../../workflows/agent-run-input.ts';
import type { StartedRun } from '../views.ts';
import { endedOrUnknown } from './run-messages.ts';
import { isKnownRun } from './run-views.ts';

export interface StartDeps {
  client: Client;
  registry: Registry;
  /** Without a store, run ids and families are not reserved, and a run starts without what earlier runs learnt. */
  store: Store | undefined;
  taskQueue: string;
  searchAttributes: boolean;
  workflow: AgentRunOptions;
  onMemoryFailure: ((reason: string) => void) | undefined;
}

/**
 * Prepares and starts a run. An invalid request is refused before anything is reserved or started. `unknown` are effects of
 * an earlier run with the same request: an identical call does not run before a person has said what became of them.
 */
export async function startRun(
  deps: StartDeps,
  request: unknown,
  { idempotencyKey }: { idempotencyKey?: string },
  unknown: UnknownEffect[] = [],
): Promise<StartedRun> {
  const { client, store } = deps;
  const key = idempotencyKey === undefined ? undefined : sha256Hex(`key:${idempotencyKey}`);
  const ownRunId = `run-${key?.slice(0, 32) ?? uuidV7()}`;
  const runId = askedRunId(request) ?? ownRunId;
  const outcome = prepareRun(request, deps.registry, runId);
  if (!outcome.ok) throw new RunRequestError(outcome.problems);
  // The hash is computed only now, because hashing a request that is nested too deeply would fail.
  const requestHash = hashOfJson(request);

  const loan = await borrowBudget(client, outcome.prepared);
  const prepared = loan === null ? withUnknown(outcome.prepared, unknown) : asSubRun(outcome.prepared, loan);
  const startKey = key === undefined ? undefined : { hash: key, request_hash: requestHash, run_id: ownRunId };
  const names = { run_id: runId, loop_id: prepared.loop_id, key: startKey };
  const reservation = await store?.reservations
    .reserve(names, (id) => isKnownRun(client, id))
    .catch(async (error: unknown) => {
      await loan?.giveBack();
      throw error;
    });

  const started: StartedRun = { run_id: runId, workflow_id: workflowIdOfRun(runId), bound: prepared.bound };
  const memo = {
    [MEMO.requestHash]: requestHash,
    ...defined({ [MEMO.startKey]: key }),
    [MEMO.family]: familyOf(prepared.loop_id),
    [MEMO.agent]: prepared.agent,
    [MEMO.goal]: prepared.goal,
    ...defined({ [MEMO.tenant]: prepared.tenant }),
    [MEMO.bound]: prepared.bound,
  };
  try {
    await startWorkflow(deps, await withMemory(deps, prepared), { memo, borrowed: loan !== null });
    return started;
  } catch (error) {
    // After any other error the run may still have started, so it keeps its reservation and its grant.
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    await loan?.giveBack();
    const { memo: first = {} } = await client.workflow.getHandle(started.workflow_id).describe();
    const isSameKey = key !== undefined && first[MEMO.startKey] === key;
    if (isSameKey && first[MEMO.requestHash] === requestHash) return started;
    await reservation?.release({ keepName: first[MEMO.family] === memo[MEMO.family] });
    throw isSameKey ? new IdempotencyConflictError(error) : new RunExistsError(runId, error);
  }
}

function askedRunId(request: unknown): string | undefined {
  const asked = typeof request === 'object' && request !== null ? (request as { run_id?: unknown }).run_id : undefined;
  return typeof asked === 'string' ? asked : undefined;
}

/** Adds what earlier runs learnt. Reading it before the start saves an activity, and a failure does not stop the start. */
async function withMemory({ store, onMemoryFailure }: StartDeps, prepared: PreparedRun): Promise<PreparedRun> {
  if (store === undefined) return prepared;
  const log = onMemoryFailure === undefined ? {} : { log: onMemoryFailure };
  return { ...prepared, memory: await loadStartMemory(store.startMemory, prepared, log) };
}

async function startWorkflow(
  { client, taskQueue, searchAttributes, workflow }: StartDeps,
  prepared: PreparedRun,
  { memo, borrowed }: { memo: Record<string, unknown>; borrowed: boolean },
): Promise<void> {
  const options = { ...workflow, search_attributes: searchAttributes, ...(borrowed && { borrowed }) };
  const input: AgentRunInput = { prepared, options };
  await client.workflow.start(WORKFLOW_TYPE.agentRun, {
    workflowId: workflowIdOfRun(prepared.run_id),
    taskQueue,
    args: [input],
    // A run id is never used again.
    workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL,
    memo,
    ...(searchAttributes ? { typedSearchAttributes: searchAttributesFor(prepared) } : {}),
    staticSummary: prepared.goal.slice(0, 200),
  });
}

function searchAttributesFor(run: PreparedRun): TypedSearchAttributes {
  const pairs: SearchAttributePair[] = [
    { key: defineSearchAttributeKey(SEARCH_ATTRIBUTE.agent, 'KEYWORD'), value: run.agent },
    { key: defineSearchAttributeKey(SEARCH_ATTRIBUTE.state, 'KEYWORD'), value: 'running' },
    { key: defineSearchAttributeKey(SEARCH_ATTRIBUTE.attempts, 'INT'), value: 0 },
  ];
  if (run.labels.length > 0) {
    pairs.push({ key: defineSearchAttributeKey(SEARCH_ATTRIBUTE.label, 'KEYWORD_LIST'), value: run.labels });
  }
  return new TypedSearchAttributes(pairs);
}

/** The answer of a parent that knows no loans. */
interface NoLoan {
  grant: undefined;
  is_new: false;
  effects?: undefined;
}

const asSubRun = (prepared: PreparedRun, { grant, effects }: BorrowedBudget): PreparedRun => ({
  ...withinGrant(prepared, grant),
  ...defined({ inherited: effects }),
});

const withUnknown = (prepared: PreparedRun, unknown: UnknownEffect[]): PreparedRun =>
  unknown.length === 0
    ? prepared
    : { ...prepared, inherited: { root_run_id: prepared.run_id, lane: '', done: {}, unknown, fence: 0 } };

interface BorrowedBudget {
  grant: Grant;
  /** What the parent knows about effects; undefined from a parent of an earlier version. */
  effects: InheritedEffects | undefined;
  /** Returns the grant of a start that failed. */
  giveBack(): Promise<void>;
}

/** Asks the parent run for a grant of its budget. A parent that is not a Secondwind run is only a label and grants nothing. */
async function borrowBudget(
  client: Client,
  { run_id, parent_run_id: parent }: PreparedRun,
): Promise<BorrowedBudget | null> {
  if (parent === null) return null;
  const handle = client.workflow.getHandle(workflowIdOfRun(parent));
  const { grant, is_new, effects } = await handle
    .executeUpdate<Loan, [string]>(BUDGET_MESSAGE.lend, { args: [run_id] })
    .catch(async (error: unknown): Promise<Loan | NoLoan> => {
      // Another kind of workflow, or a run of an earlier version, does not have this update.
      if (error instanceof WorkflowUpdateFailedError) return { grant: undefined, is_new: false };
      if (!(error instanceof WorkflowNotFoundError)) throw error;
      const why = await endedOrUnknown(client, parent, error);
      if (why instanceof RunNotFoundError) return { grant: undefined, is_new: false };
      throw why;
    });
  if (grant === undefined) return null;
  if (grant === null) {
    const message = `the budget of the run ${parent} is used up; start without a parent`;
    throw new RunRequestError([{ path: '$.parent_run_id', message }]);
  }
  return {
    grant,
    effects,
    giveBack: async () => {
      if (!is_new) return;
      await handle.signal(BUDGET_MESSAGE.giveBack, { sub_run_id: run_id, used: null }).catch(() => undefined);
    },
  };
}
