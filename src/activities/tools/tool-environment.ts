import type { Redact } from '../../core/redaction/redact.ts';
import type { Json } from '../../protocol/json.ts';
import type { WaitForStore } from '../wait-for-store.ts';

export type LogEvent = { event: string; [field: string]: Json };

/**
 * The environment of a tool call. It has no Temporal types, so that the simulator can run tools with the same
 * code.
 */
export interface ToolEnvironment {
  /** Aborted when the run is cancelled or the worker has to stop. */
  signal: AbortSignal;
  /** Why it was aborted. */
  stopped(): 'cancelled' | 'shutdown' | null;
  heartbeat(details?: Json): void;
  loadArtifact: (id: string) => Promise<Json | undefined>;
  saveArtifact: (id: string, content: string | Uint8Array, mediaType?: string) => Promise<void>;
  waitForStore: WaitForStore;
  log(event: LogEvent): void;
  redact: Redact;
  now(): number;
  /** True if this process stood still since that time, so that the server may have given the attempt up. */
  wasFrozenSince?(at: number): boolean;
}
