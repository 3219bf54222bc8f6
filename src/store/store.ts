import { sql } from 'kysely';
import type { Encryption } from '../encryption/encryption.ts';
import { encryptionFrom } from '../encryption/settings.ts';
import { createArchivedGuards } from './archived-guards.ts';
import { createArchivedRuns } from './archived-runs.ts';
import { createArtifacts } from './artifacts.ts';
import { createBiasCounts } from './bias-counts.ts';
import { openDatabase } from './connection.ts';
import type { DatabaseOptions } from './connection.ts';
import { createEnhancementSwitches } from './enhancement-switches.ts';
import { createFailureRecords } from './failure-records.ts';
import { createFailureRevisions } from './failure-revisions.ts';
import { createFailureStatus } from './failure-status.ts';
import { createGuardDecisions } from './guard-decisions.ts';
import { createFeedbackLog } from './feedback-log.ts';
import { createKnownFailures } from './known-failures.ts';
import { createModelDeltas } from './model-deltas.ts';
import { createRefusedParts } from './refused-parts.ts';
import { createReflections } from './reflections.ts';
import { createReservations } from './reservations.ts';
import { createStartMemory } from './start-memory.ts';
import { createRunMetrics } from './run-metrics.ts';
import { StoreReadOnlyError } from './store-errors.ts';
import { createRetryMonitors } from './retry-monitors.ts';

export interface StoreOptions extends DatabaseOptions {
  /** Default: what `SECONDWIND_ENCRYPTION_KEYS` and `SECONDWIND_ENCRYPTION` of this process say. */
  encryption?: Encryption | undefined;
}

/**
 * Opens the store, the memory that outlives runs. It connects at the first query. The schema has to exist: see
 * `migrateToLatest`.
 */
export const createStore = (database: string | StoreOptions) => {
  const options: StoreOptions = typeof database === 'string' ? { databaseUrl: database } : database;
  const encryption = options.encryption ?? encryptionFrom(process.env);
  const db = openDatabase(options);
  const modelDeltas = createModelDeltas(db, encryption, options);
  return {
    records: createFailureRecords(db),
    revisions: createFailureRevisions(db),
    failureStatus: createFailureStatus(db),
    knownFailures: createKnownFailures(db),
    artifacts: createArtifacts(db, encryption),
    archivedRuns: createArchivedRuns(db, encryption),
    archivedGuards: createArchivedGuards(db, encryption),
    reservations: createReservations(db),
    startMemory: createStartMemory(db),
    reflections: createReflections(db),
    feedbackLog: createFeedbackLog(db),
    biasCounts: createBiasCounts(db),
    retryMonitors: createRetryMonitors(db),
    enhancement: createEnhancementSwitches(db),
    runMetrics: createRunMetrics(db),
    guardDecisions: createGuardDecisions(db),
    refusedParts: createRefusedParts(db),
    modelDeltas,
    /** Resolves if the database answers and takes writes: a standby, or a database set to read only, answers but keeps nothing. */
    ping: async (): Promise<void> => {
      const { rows } = await sql<{
        read_only: string;
      }>`select current_setting('transaction_read_only') as read_only`.execute(db);
      if (rows[0]?.read_only === 'on') throw new StoreReadOnlyError();
    },
    close: async (): Promise<void> => {
      await modelDeltas.close();
      await db.destroy();
    },
  };
};

export type Store = ReturnType<typeof createStore>;
