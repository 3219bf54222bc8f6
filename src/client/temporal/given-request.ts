import type { Client } from '@temporalio/client';
import { type Redact, redactJson } from '../../core/redaction/redact.ts';
import type { RunArchive } from '../../protocol/records.ts';
import type { Store } from '../../store/store.ts';
import type { GivenRequest } from '../views.ts';
import { readJsonArtifacts } from './json-artifacts.ts';
import { readRequest } from './rerun.ts';

/**
 * Reads what a run was started with, redacted: from its history or, once that is deleted, from the archive and the artifacts of
 * its plan and its input.
 */
export async function readGivenRequest(
  client: Client,
  store: Store | undefined,
  runId: string,
  redact: Redact,
): Promise<GivenRequest> {
  const kept = await archivedRequest(store, runId);
  const { agent, goal, plan, input } = kept ?? (await readRequest(client, store, runId));
  return {
    run_id: runId,
    agent,
    goal: redact(goal),
    plan: redactJson(plan ?? null, redact),
    input: redactJson(input ?? null, redact),
    plan_artifact_id: kept?.plan_id ?? null,
    input_artifact_id: kept?.input_id ?? null,
  };
}

/** Null for a run that is not archived, or was archived by an older build. */
async function archivedRequest(store: Store | undefined, runId: string) {
  const kept = await store?.archivedRuns.get(runId).catch(() => null);
  const { request } = (kept?.summary ?? {}) as { request?: RunArchive['request'] };
  if (!kept || request === undefined) return null;
  const { plan_id, input_id } = request;
  const found = await readJsonArtifacts(
    store,
    [plan_id, input_id].filter((id) => id !== null),
  );
  const { agent, goal } = kept;
  return { agent, goal, plan_id, input_id, plan: found.get(plan_id ?? ''), input: found.get(input_id ?? '') };
}
