import type { Client } from '@temporalio/client';
import { familyOf } from '../core/guardrails/loop-ids.ts';
import { defaultLoopId, isId } from '../protocol/ids.ts';
import { SecondwindError } from '../protocol/errors.ts';
import { isKnown } from './runs/ask-run.ts';

interface Owner {
  /** null: a guard's. */
  run_id: string | null;
}

/** The names of families, each with one owner for ever. */
export interface FamilyStore {
  loopFamilies: {
    claim(family: string, owner: Owner): Promise<{ taken: boolean; owner: (Owner & { age_ms: number }) | null }>;
    ownerOf(family: string): Promise<Owner | null>;
    release(family: string, owner: Owner): Promise<void>;
  };
}

/** Whether there is, or was, a run of this id. */
type IsKnown = (runId: string) => Promise<boolean>;

export class FamilyTakenError extends SecondwindError {
  override readonly name = 'FamilyTakenError';
  constructor(family: string, owner: string) {
    super('family_taken', `The name ${family} belongs to ${owner}.`, 'Choose another loop_id.');
  }
}

/** A start that was under way for longer than this has failed. */
const ABANDONED_MS = 60_000;

/**
 * Takes a family's name for a run or a guard; says whether it was free before. A name that was taken for a run which then
 * never started, because Temporal could not be reached, is free again.
 */
export async function claimFamily(
  known: IsKnown,
  { loopFamilies }: FamilyStore,
  family: string,
  owner: Owner,
): Promise<{ taken: boolean }> {
  for (let tries = 0; ; tries += 1) {
    const claim = await loopFamilies.claim(family, owner);
    if (claim.taken || claim.owner?.run_id === owner.run_id) return { taken: claim.taken };
    if (claim.owner === null && tries < 3) continue;
    const other = claim.owner?.run_id ?? null;
    const abandoned = other !== null && (claim.owner?.age_ms ?? 0) > ABANDONED_MS && !(await known(other));
    if (!abandoned || tries >= 3) throw new FamilyTakenError(family, other === null ? 'a guard' : `the run ${other}`);
    await loopFamilies.release(family, { run_id: other });
  }
}

/** A default name carries the run's id, which nobody else can have: a store that is away must not keep such a run back. */
export async function claimForRun(
  known: IsKnown,
  families: FamilyStore,
  run: { run_id: string; loop_id: string },
): Promise<{ taken: boolean }> {
  try {
    return await claimFamily(known, families, familyOf(run.loop_id), { run_id: run.run_id });
  } catch (error) {
    const isAway = error instanceof Error && 'code' in error && error.code === 'STORE_UNREACHABLE';
    if (isAway && run.loop_id === defaultLoopId(run.run_id)) return { taken: false };
    throw error;
  }
}

/**
 * The run whose loop this is, or null when it is none of ours. A run that was started past our doors has no name before a
 * worker prepares it, but its loops carry its id unless it was given another.
 */
export async function ownRunOf(client: Client, store: FamilyStore | undefined, loopId: string): Promise<string | null> {
  if (!isId(loopId)) return null;
  const family = familyOf(loopId);
  const owner = await store?.loopFamilies.ownerOf(family);
  if (owner) return owner.run_id;
  const named = /^loop_(?<id>.+?)(?::1)?$/.exec(family)?.groups?.['id'];
  if (named === undefined || !isId(named) || defaultLoopId(named) !== family) return null;
  return (await isKnown(client, named)) ? named : null;
}
