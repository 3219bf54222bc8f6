import type { StackError } from './stack-error.ts';

export type SearchAttributeTypes = Record<string, 'Keyword' | 'KeywordList' | 'Int'>;

/** Ports that the user named. If one is taken, the start fails. Ports that are not named are chosen automatically. */
export interface StackPorts {
  temporal?: number;
  temporalUi?: number;
  postgres?: number;
}

export interface StackOptions {
  /** Folder for databases, logs and `stack.json`. It is created if missing. Only one stack can use it at a time. */
  dataDir: string;
  /** Called with one line about the progress, also later when a part was restarted. */
  progress?: (line: string) => void;
  /** URL of your own Postgres. Default: `DATABASE_URL`, else an embedded Postgres is started. */
  databaseUrl?: string;
  /** Address of your own Temporal. Default: `TEMPORAL_ADDRESS`, else a dev server is started. */
  temporalAddress?: string;
  /** Default: `TEMPORAL_NAMESPACE`, else `default`. */
  temporalNamespace?: string;
  searchAttributes?: SearchAttributeTypes;
  ports?: StackPorts;
  /** Starts Temporal's web UI. Default: false, because it needs memory and a port. */
  ui?: boolean;
  /** The URL at which the caller serves, so that a second stack on this folder can name it. */
  url?: string;
  /** Where settings, PATH and HOME are read from. Default: `process.env`. */
  env?: NodeJS.ProcessEnv;
  /** Refuses to start with less free disk space than this. Default: 200 MB. */
  minFreeBytes?: number;
  /**
   * Server settings of the embedded Postgres. Tests that kill nothing can pass `{ fsync: 'off' }` to be faster.
   * Acknowledged writes then survive a killed process, but not a power cut.
   */
  postgresSettings?: Record<string, string>;
  /**
   * How Postgres, which refuses to run as root, runs for root. `auto` maps root to another user in a user namespace if
   * the system allows it, and else switches to an unprivileged user. `unprivileged-user` always switches.
   */
  postgresRootMode?: 'auto' | 'unprivileged-user';
}

/** Why a stack has ended. */
export type StackExit = { reason: 'stopped' } | { reason: 'failed'; error: StackError };

export interface Stack {
  temporalAddress: string;
  namespace: string;
  uiUrl?: string;
  databaseUrl: string;
  dataDir: string;
  /** Which servers this stack has started, and so stops. */
  owned: { temporal: boolean; postgres: boolean };
  /** False if an external Temporal refused to register our search attributes. Runs then cannot be filtered in lists. */
  searchAttributes: boolean;
  /** Stops what was started, Temporal first. A second call, for example after a second Ctrl-C, stops faster. */
  stop(): Promise<void>;
  /** Resolves when the stack has stopped or has failed. Never rejects. */
  exited: Promise<StackExit>;
}
