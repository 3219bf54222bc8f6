import type { StackError } from './stack-error.ts';

export type SearchAttributeTypes = Record<string, 'Keyword' | 'KeywordList' | 'Int'>;

/** Ports that the user named. One that is taken is an error; a port that is not named is ours to choose. */
export interface StackPorts {
  temporal?: number;
  temporalUi?: number;
  postgres?: number;
}

export interface StackOptions {
  /** Where databases, logs and `stack.json` live. Made when missing. One stack at a time. */
  dataDir: string;
  /** One line for people about what is going on, also later on, when a part had to be restarted. */
  progress?: (line: string) => void;
  /** An own Postgres; else `DATABASE_URL`; else an embedded one is started. */
  databaseUrl?: string;
  /** An own Temporal; else `TEMPORAL_ADDRESS`; else a dev server is started. */
  temporalAddress?: string;
  /** Else `TEMPORAL_NAMESPACE`, else `default`. */
  temporalNamespace?: string;
  searchAttributes?: SearchAttributeTypes;
  ports?: StackPorts;
  /** Temporal's own web UI. Off unless wanted: it costs memory and a port. */
  ui?: boolean;
  /** The address its owner serves at, so that a second stack on this folder can name it. */
  url?: string;
  /** Settings, PATH and HOME are read from here. Default: `process.env`. */
  env?: NodeJS.ProcessEnv;
  /** Less room than this on the disk is refused. Default 200 MB. */
  minFreeBytes?: number;
  /**
   * Server settings of the embedded Postgres. Tests that kill nothing may pass `{ fsync: 'off' }` to be faster: what was
   * acknowledged then survives a killed process, but not a power cut.
   */
  postgresSettings?: Record<string, string>;
  /**
   * Postgres refuses to run as root. `auto` maps root to another user in a user namespace where the system allows that;
   * `unprivileged-user` is what is left elsewhere, and can be asked for.
   */
  postgresRootMode?: 'auto' | 'unprivileged-user';
}

/** Why a stack is no longer there. A promise of it never rejects. */
export type StackExit = { reason: 'stopped' } | { reason: 'failed'; error: StackError };

export interface Stack {
  temporalAddress: string;
  namespace: string;
  uiUrl?: string;
  databaseUrl: string;
  dataDir: string;
  /** What this stack started itself, and so ends itself. */
  owned: { temporal: boolean; postgres: boolean };
  /** False when an own Temporal did not let us register them: runs are then listed without filters. */
  searchAttributes: boolean;
  /** Ends what was started, Temporal first. Called a second time it hurries: a second Ctrl-C skips ahead. */
  stop(): Promise<void>;
  /** Resolves once the stack is gone: stopped, or failed for good. */
  exited: Promise<StackExit>;
}
