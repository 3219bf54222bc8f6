import { Kysely, PostgresDialect } from 'kysely';
import type { PostgresCursor, PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import { Pool, types } from 'pg';
import type { CustomTypesConfig, PoolClient } from 'pg';
import { isUnreachable, StoreInputError, StoreUnreachableError } from './store-errors.ts';
import type { Tables } from './tables.ts';

export interface DatabaseOptions {
  databaseUrl: string;
  /** Default: 10. */
  maxConnections?: number;
  /** Postgres ends a statement that takes longer. Default: 15 s; 0 means never. */
  statementTimeoutMs?: number;
  /** Default: 5 s. */
  connectTimeoutMs?: number;
  /** Called when an idle connection breaks, for logging. The next query opens a new connection. */
  onConnectionLost?: (error: Error) => void;
}

/** If no answer has arrived this long after the server's own timeout, the network is down. */
const READ_GRACE_MS = 5_000;

export const openDatabase = (options: DatabaseOptions): Kysely<Tables> =>
  new Kysely<Tables>({ dialect: new PostgresDialect({ pool: createPool(options) }) });

const createPool = (options: DatabaseOptions): PostgresPool => {
  const address = addressOf(options.databaseUrl);
  const statementTimeoutMs = options.statementTimeoutMs ?? 15_000;
  const max = options.maxConnections ?? 10;
  const pool = new Pool({
    connectionString: options.databaseUrl,
    application_name: 'secondwind',
    max,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 5_000,
    keepAlive: true,
    types: typeParsers,
    ...(statementTimeoutMs > 0 && {
      statement_timeout: statementTimeoutMs,
      idle_in_transaction_session_timeout: 2 * statementTimeoutMs,
      query_timeout: statementTimeoutMs + READ_GRACE_MS,
    }),
  });
  // Without a listener, the loss of an idle connection would end the process.
  pool.on('error', (error) => options.onConnectionLost?.(error));
  // The pool listens only to idle clients. A connection can end while nobody listens, for example if its end arrives in
  // the same packet as its first answer. So each client gets a permanent listener.
  pool.on('connect', (client) => client.on('error', () => {}));

  // The pool's own queue reports "timeout" both if all connections are busy and if none can be made. Our own queue
  // tells them apart: a busy pool waits, an unreachable server fails.
  const slots = createSlots(max);
  return {
    connect: async () => {
      await slots.take();
      try {
        return createLease(await pool.connect(), address, slots.give);
      } catch (error) {
        slots.give();
        throw translateError(error, address);
      }
    },
    end: () => pool.end(),
  };
};

/** One checkout of a connection. Translates errors, and handles a connection that breaks while it is checked out. */
const createLease = (client: PoolClient, address: string, onRelease: () => void): PostgresPoolClient => {
  let broken = false;
  const markBroken = () => {
    broken = true;
  };
  client.on('error', markBroken);
  const run = async (text: string, parameters: readonly unknown[]): Promise<unknown> => {
    try {
      return await client.query(text, [...parameters]);
    } catch (error) {
      // After a read timeout the connection still waits for the old answer, so it must not be used again.
      if (isUnreachable(error)) broken = true;
      throw translateError(error, address);
    }
  };
  function query<R>(text: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>>;
  function query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>;
  function query(text: unknown, parameters: readonly unknown[] = []): unknown {
    if (typeof text !== 'string') throw new TypeError('The store does not support database cursors.');
    return run(text, parameters);
  }
  return {
    query,
    release: () => {
      client.off('error', markBroken);
      client.release(broken);
      onRelease();
    },
  };
};

const translateError = (error: unknown, address: string): unknown =>
  isUnreachable(error) ? new StoreUnreachableError(address, error) : error;

const createSlots = (count: number) => {
  const waiting: (() => void)[] = [];
  let free = count;
  return {
    take: (): Promise<void> => {
      if (free > 0) {
        free -= 1;
        return Promise.resolve();
      }
      return new Promise((resolve) => waiting.push(resolve));
    },
    give: (): void => {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    },
  };
};

/** Host, port and database, which identify the server without a secret. */
const addressOf = (databaseUrl: string): string => {
  if (!URL.canParse(databaseUrl) || !/^postgres(ql)?:$/.test(new URL(databaseUrl).protocol)) {
    throw new StoreInputError('DATABASE_URL', 'expected postgres://user:password@host:port/database');
  }
  const url = new URL(databaseUrl);
  return `${url.hostname || 'localhost'}:${url.port || '5432'}${url.pathname}`;
};

/**
 * Counts and ids stay far below 2^53, so they are read as numbers. As strings they would be compared and added wrongly.
 */
const typeParsers: CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    oid === types.builtins.INT8 && format !== 'binary'
      ? (text: string) => Number(text)
      : types.getTypeParser(oid, format),
};
