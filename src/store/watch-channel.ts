import { sha256Hex } from '../protocol/ids.ts';

/** The first key of the advisory locks of watchers. It only has to differ from those of other programs. */
export const WATCHER_LOCK = 0x5ec0d;

/** The name of a channel has at most 63 bytes, and a run id may have more. */
export const channelOf = (runId: string): string => `secondwind_deltas_${sha256Hex(runId).slice(0, 32)}`;

/** The second key: 31 bits. Two runs with one key only make a worker send what nobody listens to. */
export const lockKeyOf = (runId: string): number => Number.parseInt(sha256Hex(runId).slice(0, 8), 16) & 0x7fffffff;
