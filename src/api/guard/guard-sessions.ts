import { createGuardState, type GuardState } from '../../core/guard/guard-state.ts';

/** One conversation of an agent that runs elsewhere. */
export interface GuardSessionKey {
  tenant: string | undefined;
  agent: string;
  session: string;
}

/** The states of sessions, in the memory of this process. */
export interface GuardSessions {
  get(key: GuardSessionKey): GuardState;
  set(key: GuardSessionKey, state: GuardState): void;
  readonly size: number;
}

/** A state has about 100 KB at most, so this is at most about 100 MB. */
const SESSIONS = 1_000;
const IDLE_MS = 3_600_000;

/**
 * Keeps the latest sessions. A session that was idle for an hour is dropped, and so is the one that was idle longest
 * when there are too many. Its next call starts counting again.
 */
export function createGuardSessions(
  { most = SESSIONS, idleMs = IDLE_MS }: { most?: number; idleMs?: number } = {},
  now: () => number = Date.now,
): GuardSessions {
  /** The session that was used last is the last entry. */
  const sessions = new Map<string, { state: GuardState; usedAt: number }>();
  const name = ({ tenant = '', agent, session }: GuardSessionKey): string => JSON.stringify([tenant, agent, session]);
  return {
    get: (key) => {
      const found = sessions.get(name(key));
      return found !== undefined && now() - found.usedAt < idleMs ? found.state : createGuardState();
    },
    set: (key, state) => {
      const id = name(key);
      const usedAt = now();
      sessions.delete(id);
      sessions.set(id, { state, usedAt });
      for (const [other, { usedAt: last }] of sessions) {
        if (sessions.size <= most && usedAt - last < idleMs) break;
        sessions.delete(other);
      }
    },
    get size() {
      return sessions.size;
    },
  };
}
