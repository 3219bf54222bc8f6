/** Why a stack cannot start or keep running. Each code has one sentence and one next step. */
export type StackErrorCode =
  | 'bad_stack_file'
  | 'disk_full'
  | 'folder_in_use'
  | 'folder_not_writable'
  | 'keeper_failed'
  | 'port_taken'
  | 'postgres_failed'
  | 'postgres_not_available'
  | 'postgres_refused'
  | 'postgres_unreachable'
  | 'temporal_cli_unusable'
  | 'temporal_failed'
  | 'temporal_namespace_missing'
  | 'temporal_not_available'
  | 'temporal_unreachable'
  | 'unsupported_platform';

export interface StackErrorData {
  code: StackErrorCode;
  message: string;
  nextStep: string;
  exitCode: 1 | 3;
}

/** Exit code 3 means that something cannot be reached; everything else is 1. */
export class StackError extends Error {
  readonly code: StackErrorCode;
  readonly nextStep: string;
  readonly exitCode: 1 | 3;

  constructor(
    code: StackErrorCode,
    message: string,
    nextStep: string,
    options: { exitCode?: 3; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'StackError';
    this.code = code;
    this.nextStep = nextStep;
    this.exitCode = options.exitCode ?? 1;
  }

  /** The form in which an error travels from the keeper to its parent. */
  toJSON(): StackErrorData {
    return { code: this.code, message: this.message, nextStep: this.nextStep, exitCode: this.exitCode };
  }

  static fromJSON(data: StackErrorData): StackError {
    return new StackError(
      data.code,
      data.message,
      data.nextStep,
      data.exitCode === 3 ? { exitCode: data.exitCode } : {},
    );
  }

  /** Turns anything thrown into a StackError, so that every error has a next step. */
  static from(error: unknown, nextStep: string): StackError {
    if (error instanceof StackError) return error;
    return new StackError('keeper_failed', messageOf(error), nextStep, { cause: error });
  }
}

export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // A refused connection to a name with two addresses is an AggregateError with an empty message.
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ');
  return error.message;
}

export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
