import type { ActivityStore } from './store-port.ts';

/** The part of a log that activities need. Temporal's own log has it. */
export interface WarnLog {
  warn(message: string, fields: Record<string, unknown>): void;
}

export interface PartWriter {
  /** Writes these parts. If a part cannot be stored, it is refused with a reason, and the others are still written. */
  write<T>(kind: string, parts: readonly T[], idOf: (part: T) => string, store: Write<T>): Promise<void>;
  refuse(kind: string, partId: string, reason: string): Promise<void>;
  /** Throws the first error that is worth a retry. All other parts have been written by then. */
  finish(): void;
}
type Write<T> = ((parts: readonly T[]) => Promise<unknown>) | undefined;

/**
 * Writes the parts of one run independently: an invalid part does not stop the others, and an outage loses none,
 * because the activity is retried.
 */
export function createPartWriter(store: ActivityStore, runId: string, log: WarnLog): PartWriter {
  const away: unknown[] = [];

  const refuse = async (kind: string, partId: string, reason: string): Promise<void> => {
    const told = { run_id: runId, kind, part_id: partId, reason };
    // A retried write is refused again; the warning is logged only the first time.
    const kept = await store.refusedParts?.put([told]).catch(() => undefined);
    if (kept?.written !== 0) log.warn('record_refused', told);
  };
  const writeOne = async <T>(kind: string, part: T, partId: string, write: NonNullable<Write<T>>): Promise<void> => {
    try {
      await write([part]);
    } catch (error) {
      if (isRefusal(error)) await refuse(kind, partId, messageOf(error));
      else away.push(error);
    }
  };

  return {
    async write(kind, parts, idOf, write) {
      if (parts.length === 0) return;
      if (write === undefined) {
        log.warn('record_left_out', { run_id: runId, kind, parts: parts.length, reason: 'this store keeps none' });
        return;
      }
      try {
        await write(parts);
      } catch (error) {
        if (!isRefusal(error)) {
          away.push(error);
          return;
        }
        for (const part of parts) await writeOne(kind, part, idOf(part), write);
      }
    },
    refuse,
    finish() {
      if (away.length > 0) throw away[0];
    },
  };
}

/** True if a retry would fail again, because no schema or column accepts the value. */
export function isRefusal(error: unknown): boolean {
  if (error instanceof TypeError || error instanceof RangeError) return true;
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
  return code === 'STORE_INPUT' || code === 'ARTIFACT_HASH_MISMATCH' || /^2[23]...$/.test(code);
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
