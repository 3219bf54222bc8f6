import type { ActivityStore } from './store-port.ts';

/** The one line that activities need of a log; Temporal's own has it. */
export interface WarnLog {
  warn(message: string, fields: Record<string, unknown>): void;
}

export interface PartWriter {
  /** Writes these parts. One that cannot be stored is refused with its reason, once, and the others go in. */
  write<T>(kind: string, parts: readonly T[], idOf: (part: T) => string, store: Write<T>): Promise<void>;
  refuse(kind: string, partId: string, reason: string): Promise<void>;
  /** Throws what made a part wait for another try. Every other part has had its turn by then. */
  finish(): void;
}
type Write<T> = ((parts: readonly T[]) => Promise<unknown>) | undefined;

/** The parts of one run's write, each for itself: a bad one must not cost the others, and an outage none of them. */
export function openPartWriter(store: ActivityStore, runId: string, log: WarnLog): PartWriter {
  const away: unknown[] = [];

  const refuse = async (kind: string, partId: string, reason: string): Promise<void> => {
    const told = { run_id: runId, kind, part_id: partId, reason };
    // A repeated write is refused again; it is told the first time.
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

/** Writing it again would fail again: a value that no schema or no column takes. Anything else may pass. */
function isRefusal(error: unknown): boolean {
  if (error instanceof TypeError || error instanceof RangeError) return true;
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
  return code === 'STORE_INPUT' || code === 'ARTIFACT_HASH_MISMATCH' || /^2[23]...$/.test(code);
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
