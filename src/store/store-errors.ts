/** The database cannot be reached. `code` is stable, so that callers can choose an exit code or a status by it. */
export class StoreUnreachableError extends Error {
  readonly code = 'STORE_UNREACHABLE';
  constructor(address: string, cause: unknown) {
    super(`Postgres at ${address} cannot be reached: ${messageOf(cause)}. ${nextStep(codeOf(cause))}`, { cause });
    this.name = 'StoreUnreachableError';
  }
}

/** The database answers, but is a standby or set to read only. */
export class StoreReadOnlyError extends Error {
  readonly code = 'STORE_READ_ONLY';
  constructor() {
    super('Postgres takes no writes: it is a standby or set to read only. Point DATABASE_URL at the primary database.');
    this.name = 'StoreReadOnlyError';
  }
}

export class StoreSchemaNewerError extends Error {
  readonly code = 'STORE_SCHEMA_NEWER';
  constructor(unknownMigrations: readonly string[]) {
    super(
      `The database has a newer schema than this version of secondwind knows (${unknownMigrations.join(', ')}). ` +
        'Upgrade secondwind, or point DATABASE_URL at another database.',
    );
    this.name = 'StoreSchemaNewerError';
  }
}

/** The input was refused before it reached the database. `path` names the invalid member. */
export class StoreInputError extends Error {
  readonly code = 'STORE_INPUT';
  readonly path: string;
  constructor(path: string, reason: string) {
    super(`${path}: ${reason}`);
    this.name = 'StoreInputError';
    this.path = path;
  }
}

export class ArtifactHashMismatchError extends Error {
  readonly code = 'ARTIFACT_HASH_MISMATCH';
  constructor(claimed: string, actual: string) {
    super(`An artifact's id is the sha256 of its bytes: claimed ${claimed}, the bytes give ${actual}.`);
    this.name = 'ArtifactHashMismatchError';
  }
}

const codeOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string' ? error.code : '';

export const messageOf = (error: unknown): string => {
  // Node tries IPv6 and IPv4, and then throws an AggregateError without a message.
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ');
  return error instanceof Error ? error.message : String(error);
};

const NETWORK_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_WRITE_AFTER_END',
]);
/** pg gives these errors no code. */
const NETWORK_MESSAGES = [
  'Connection terminated',
  'Client has encountered a connection error',
  'Query read timeout',
  'Client was closed and is not queryable',
];
const isOutageState = (state: string): boolean =>
  // 08: connection; 28: authorization; 3D000: no such database; 53300: too many connections; 57P0x: shutting down or
  // starting up.
  /^(08...|28...|3D000|53300|57P0[1-5])$/.test(state);

export const isUnreachable = (error: unknown): boolean => {
  if (error instanceof AggregateError) return error.errors.some(isUnreachable);
  const code = codeOf(error);
  if (NETWORK_CODES.has(code) || isOutageState(code)) return true;
  return error instanceof Error && NETWORK_MESSAGES.some((start) => error.message.startsWith(start));
};

/** True if the row itself cannot be stored (a value out of range, a constraint), so that a retry would fail again. */
export const isRefusedRow = (error: unknown): boolean => /^2[23]...$/.test(codeOf(error));

const nextStep = (code: string): string => {
  if (code.startsWith('28')) return 'Check the user and the password in DATABASE_URL.';
  if (code === '3D000') return 'Create that database, or name an existing one in DATABASE_URL.';
  if (code === '53300') return 'Raise max_connections on the server, or use fewer workers.';
  return 'Start it, or set DATABASE_URL to a Postgres that runs (`secondwind dev` brings its own).';
};

export const isMissingReference = (error: unknown): boolean => codeOf(error) === '23503';
