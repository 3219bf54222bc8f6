import { hashOfJson, sha256Hex } from '../protocol/ids.ts';
import { SecondwindError } from '../protocol/errors.ts';

/** Which request each key was first used with. */
export interface StartKeyStore {
  startKeys: {
    claim(key: string, requestHash: string): Promise<{ taken: boolean; requestHash: string }>;
    release(key: string, requestHash: string): Promise<void>;
  };
}

/** A start under an idempotency key, as Temporal and the store know it. */
export interface StartKey {
  hash: string;
  requestHash: string;
  /** The run's id where the request names none: whoever repeats the request finds the run that the first one started. */
  runId: string;
}

export const startKeyOf = (key: string, request: unknown): StartKey => {
  const hash = sha256Hex(`key:${key}`);
  return { hash, requestHash: hashOfJson(request), runId: `run-${hash.slice(0, 32)}` };
};

/**
 * Binds the key to its request, for ever; another request is refused. Says how to give it back, for a request that then
 * starts nothing. While the store is away Temporal alone has to do, which knows every key by its run's id, unless the
 * request brings an id of its own.
 */
export async function holdKey(
  { hash, requestHash, runId }: StartKey,
  startedAs: string,
  store: StartKeyStore | undefined,
): Promise<() => Promise<void>> {
  const nothing = (): Promise<void> => Promise.resolve();
  if (store === undefined) return nothing;
  const { startKeys } = store;
  try {
    const held = await startKeys.claim(hash, requestHash);
    if (held.requestHash !== requestHash) throw otherRequest();
    return held.taken ? () => startKeys.release(hash, requestHash) : nothing;
  } catch (error) {
    const isAway = error instanceof Error && 'code' in error && error.code === 'STORE_UNREACHABLE';
    if (isAway && startedAs === runId) return nothing;
    throw error;
  }
}

export const otherRequest = (): SecondwindError =>
  new SecondwindError(
    'idempotency_conflict',
    'This Idempotency-Key was used with another request.',
    'Use a new key for a new request.',
  );
