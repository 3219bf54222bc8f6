import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  WorkflowIdConflictPolicy,
  WorkflowIdReusePolicy,
} from '@temporalio/client';
import { defineSearchAttributeKey, type SearchAttributePair, TypedSearchAttributes } from '@temporalio/common';
import { v7 as uuidV7 } from 'uuid';
import { prepareRun } from '../define/prepare-run.ts';
import type { Registry } from '../define/registry.ts';
import { hashOfJson, workflowIdOfRun } from '../protocol/ids.ts';
import { MEMO, SEARCH_ATTRIBUTE, WORKFLOW_TYPE } from '../protocol/names.ts';
import type { PreparedRun } from '../protocol/run.ts';
import { loadStartMemory, type StartMemoryStore } from '../store/start-memory.ts';
import type { AgentRunInput, AgentRunOptions } from '../workflows/agent-run-input.ts';
import { withinGrant } from '../core/bound/within-grant.ts';
import { familyOf } from '../core/guardrails/loop-ids.ts';
import { RunExistsError, RunRequestError } from '../protocol/errors.ts';
import { holdKey, otherRequest, type StartKey, startKeyOf, type StartKeyStore } from './start-key.ts';
import type { StartedRun } from './views.ts';
import { borrowBudget } from './borrow-budget.ts';
import { claimForRun, type FamilyStore } from './families.ts';
import { isKnown } from './runs/ask-run.ts';

export interface StartOptions {
  /** The same key with the same request gives the same run; with another request it is refused. */
  idempotencyKey?: string;
  workflow?: AgentRunOptions;
}
export interface StartDeps {
  client: Client;
  registry: Registry;
  taskQueue: string;
  searchAttributes: boolean;
  /** The memory beyond runs; without one a run starts as the first of its kind. */
  memory?: Partial<StartMemoryStore>;
  onMemoryFailure?: (reason: string) => void;
  /** Where the names of loops are kept; without it nobody sees that two runs share one. */
  families?: FamilyStore | undefined;
  /** Where keys are kept; without it a key is known only by the run that it started. */
  keys?: StartKeyStore | undefined;
}

/** Prepares and starts a run. Whatever is wrong with the request is told before anything is started. */
export async function startRun(deps: StartDeps, request: unknown, options: StartOptions = {}): Promise<StartedRun> {
  const key = options.idempotencyKey === undefined ? undefined : startKeyOf(options.idempotencyKey, request);
  const runId = runIdFor(request, key);
  const outcome = prepareRun(request, deps.registry, runId);
  if (!outcome.ok) throw new RunRequestError(outcome.problems);
  const borrowed = await borrowBudget(deps.client, outcome.prepared);
  const prepared = await withMemory(withinGrant(outcome.prepared, borrowed?.grant ?? null), deps);
  const requestHash = hashOfJson(request);
  const input: AgentRunInput = {
    prepared,
    options: {
      ...options.workflow,
      search_attributes: deps.searchAttributes,
      ...(borrowed !== null && { borrowed: true as const }),
    },
  };
  const started: StartedRun = { run_id: runId, workflow_id: workflowIdOfRun(runId), bound: prepared.bound };
  const dropKey = key && (await holdKey(key, runId, deps.keys));
  const giveBack = async (): Promise<void> => {
    await dropKey?.();
    await borrowed?.giveBack();
  };
  const known = (id: string): Promise<boolean> => isKnown(deps.client, id);
  const claim = deps.families ? claimForRun(known, deps.families, prepared) : Promise.resolve({ taken: false });
  const { taken } = await claim.catch(async (error: unknown) => {
    await giveBack();
    throw error;
  });
  try {
    await deps.client.workflow.start(WORKFLOW_TYPE.agentRun, {
      workflowId: started.workflow_id,
      taskQueue: deps.taskQueue,
      args: [input],
      // A run's id belongs to one run for ever.
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL,
      memo: {
        [MEMO.requestHash]: requestHash,
        ...(key && { [MEMO.startKey]: key.hash }),
        [MEMO.agent]: prepared.agent,
        [MEMO.goal]: prepared.goal,
        [MEMO.bound]: prepared.bound,
      },
      ...(deps.searchAttributes ? { typedSearchAttributes: attributesOf(prepared) } : {}),
      staticSummary: prepared.goal.slice(0, 200),
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    const first = await startedWith(deps.client, started.workflow_id);
    const isSameKey = key !== undefined && first.key === key.hash;
    if (isSameKey && first.requestHash === requestHash) {
      await borrowed?.giveBack();
      return started;
    }
    if (taken) await deps.families?.loopFamilies.release(familyOf(prepared.loop_id), { run_id: runId });
    await giveBack();
    throw isSameKey ? otherRequest() : new RunExistsError(runId, error);
  }
  return started;
}

/** What earlier runs left behind, read before the workflow starts: it costs no activity, and cannot hold up the start. */
async function withMemory(prepared: PreparedRun, { memory, onMemoryFailure }: StartDeps): Promise<PreparedRun> {
  if (memory === undefined) return prepared;
  const log = onMemoryFailure === undefined ? {} : { log: onMemoryFailure };
  return { ...prepared, memory: await loadStartMemory(memory, prepared, log) };
}

function runIdFor(request: unknown, key: StartKey | undefined): string {
  const asked = typeof request === 'object' && request !== null ? (request as { run_id?: unknown }).run_id : undefined;
  return typeof asked === 'string' ? asked : (key?.runId ?? `run-${uuidV7()}`);
}

/** What the run that is there was started with, when that was under a key. */
async function startedWith(client: Client, workflowId: string): Promise<{ key: unknown; requestHash: unknown }> {
  const { memo } = await client.workflow.getHandle(workflowId).describe();
  return { key: memo?.[MEMO.startKey], requestHash: memo?.[MEMO.requestHash] };
}

function attributesOf(run: PreparedRun): TypedSearchAttributes {
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
