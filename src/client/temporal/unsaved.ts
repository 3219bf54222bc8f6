import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import { CAP } from '../../protocol/caps.ts';
import { isRecord } from '../../protocol/json.ts';
import { LATE_EFFECT, STORE_WAIT } from '../../protocol/names.ts';
import type { RunResult, RunStatus, Unsaved } from '../../protocol/run.ts';
import type { Store } from '../../store/store.ts';

/**
 * What of an ended run the store does not have now. The run's own count is from its end. Its archive is written after
 * everything else, so once it is there, nothing else is missing.
 */
export async function stillUnsaved(store: Store | undefined, runId: string, counted: Unsaved): Promise<Unsaved> {
  const unsaved = { ...NOTHING_UNSAVED, ...counted };
  if (store === undefined || !unsaved.archive) return unsaved;
  // A store that does not answer has not got it either.
  const archived = await store.archivedRuns.get(runId).catch(() => null);
  if (!archived) return unsaved;
  return { ...NOTHING_UNSAVED, ...(archived.summary as { result: RunResult }).result.unsaved };
}

/** Older results have no count of outputs. */
export const NOTHING_UNSAVED: Unsaved = { records: 0, outputs: 0, archive: false };

/**
 * Says in the status of an open run what its activities want of a store that does not answer, or which side effect they
 * wait for after its timeout.
 */
export async function withWaits(
  client: Client,
  description: WorkflowExecutionDescription | null,
  status: RunStatus,
): Promise<RunStatus> {
  const { pendingActivities } = description?.raw ?? {};
  const beats = await Promise.all(
    (pendingActivities ?? []).map(({ heartbeatDetails }) => decoded(client, heartbeatDetails?.payloads?.[0])),
  );
  const purposes = readTexts(beats, STORE_WAIT);
  const [first] = purposes;
  const [late] = readTexts(beats, LATE_EFFECT);
  if (first === undefined) return late === undefined ? status : { ...status, ...describeLateEffect(late) };
  const more = purposes.length === 1 ? '' : `, and ${purposes.length - 1} more`;
  const outputs = purposes.filter((purpose) => purpose.startsWith('save the output')).length;
  return {
    ...status,
    why: `Waiting for the store to ${first}${more}.`,
    next_action: 'go on when Postgres answers; GET /readyz tells whether it does',
    unsaved: { ...status.unsaved, outputs: status.unsaved.outputs + outputs },
  };
}

const describeLateEffect = (what: string): Pick<RunStatus, 'why' | 'next_action'> => ({
  why: `Waiting for ${what} to stop: its time is over, and it may still act.`,
  next_action: `find out whether its effect happened when it has stopped, or ${CAP.lateEffectMs / 1_000} s after its timeout`,
});

const readTexts = (beats: unknown[], name: string): string[] =>
  beats.flatMap((beat) => {
    const text = isRecord(beat) ? beat[name] : undefined;
    return typeof text === 'string' ? [text] : [];
  });

/** What somebody else's worker beats is none of ours, so what cannot be read is nothing. */
async function decoded(client: Client, payload: Payload | null | undefined): Promise<unknown> {
  if (!payload) return undefined;
  const { payloadCodecs, payloadConverter } = client.options.loadedDataConverter;
  try {
    let payloads: Payload[] = [payload];
    for (const codec of payloadCodecs.toReversed()) payloads = await codec.decode(payloads);
    return payloads[0] === undefined ? undefined : payloadConverter.fromPayload(payloads[0]);
  } catch {
    return undefined;
  }
}
