import { StackError, errnoOf, messageOf } from '../stack-error.ts';

const CONNECT_LIMIT_MS = 5_000;

/** Checks that the user's own Postgres answers a query. The error says what to do, depending on the reason. */
export async function checkPostgres(connectionString: string): Promise<void> {
  const { Client } = await import('pg');
  let where = 'DATABASE_URL';
  try {
    where = placeOf(connectionString);
    const client = new Client({ connectionString, connectionTimeoutMillis: CONNECT_LIMIT_MS });
    client.on('error', () => {});
    try {
      await client.connect();
      await client.query('select 1');
    } finally {
      await client.end().catch(() => {});
    }
  } catch (error) {
    throw explain(where, error);
  }
}

/** The server's address without user and password, because it appears on screens and in logs. */
function placeOf(connectionString: string): string {
  const { host, pathname } = new URL(connectionString);
  return `${host}${pathname}`;
}

function explain(where: string, error: unknown): StackError {
  // A code of five characters is an SQLSTATE: the server was reached and refused.
  const saysNo = /^[0-9A-Z]{5}$/.test(errnoOf(error) ?? '') && !isStartingUp(error);
  if (saysNo || error instanceof TypeError) {
    return new StackError(
      'postgres_refused',
      `Postgres at ${where} refuses the connection (${messageOf(error)}).`,
      'Correct the user, password or database name in DATABASE_URL, or unset it to have one started.',
      { cause: error },
    );
  }
  return new StackError(
    'postgres_unreachable',
    `Postgres at ${where} does not answer (${messageOf(error)}).`,
    'Start it, or correct DATABASE_URL, or unset it to have one started.',
    { exitCode: 3, cause: error },
  );
}

function isStartingUp(error: unknown): boolean {
  return errnoOf(error) === '57P03';
}
