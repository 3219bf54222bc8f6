import type { RequestProblem } from './run.ts';

/** Base class of every error that a caller can get. The message says what happened, and `nextStep` what to do. */
export class SecondwindError extends Error {
  override readonly name: string = 'SecondwindError';
  readonly code: string;
  readonly nextStep: string;

  constructor(code: string, message: string, nextStep: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.nextStep = nextStep;
  }
}

/** The request is invalid, and nothing was started. `problems` lists what to correct. */
export class RunRequestError extends SecondwindError {
  override readonly name = 'RunRequestError';
  readonly problems: RequestProblem[];

  constructor(problems: RequestProblem[], cause?: unknown) {
    const told = problems.map((problem) => `${problem.path}: ${problem.message}`).join('; ');
    super('bad_request', told, 'Correct the named fields and start again.', cause);
    this.problems = problems;
  }
}

export class RunExistsError extends SecondwindError {
  override readonly name = 'RunExistsError';
  constructor(runId: string, cause?: unknown) {
    super('run_exists', `There is a run ${runId} already.`, 'Choose another run_id, or leave it out.', cause);
  }
}

export class RunNotFoundError extends SecondwindError {
  override readonly name = 'RunNotFoundError';
  constructor(runId: string, cause?: unknown) {
    super(
      'run_not_found',
      `There is no run ${runId}.`,
      'Check the id; a list of runs shows those that are known.',
      cause,
    );
  }
}

export class RunEndedError extends SecondwindError {
  override readonly name = 'RunEndedError';
  constructor(runId: string, cause?: unknown) {
    super('run_ended', `The run ${runId} has ended.`, 'Start a new run.', cause);
  }
}

export class IdempotencyConflictError extends SecondwindError {
  override readonly name = 'IdempotencyConflictError';
  constructor(cause?: unknown) {
    super(
      'idempotency_conflict',
      'This Idempotency-Key was used with another request.',
      'Use a new key for a new request.',
      cause,
    );
  }
}

/** The loop family belongs to another run or guard. A family keeps its owner forever. */
export class FamilyTakenError extends SecondwindError {
  override readonly name = 'FamilyTakenError';
  constructor(family: string, owner: string, cause?: unknown) {
    super('family_taken', `The name ${family} belongs to ${owner}.`, 'Choose another loop_id.', cause);
  }
}

/** The run refused the message. Nothing has changed. */
export class MessageRefusedError extends SecondwindError {
  override readonly name = 'MessageRefusedError';
  readonly problem: string;
  readonly errors: RequestProblem[];

  constructor(problem: string, errors: RequestProblem[], cause?: unknown) {
    const told = errors.map((error) => `${error.path}: ${error.message}`).join('; ');
    super('message_refused', told, 'Correct the message and send it again.', cause);
    this.problem = problem;
    this.errors = errors;
  }
}

export class NotReachableError extends SecondwindError {
  override readonly name = 'NotReachableError';
  constructor(what: string, nextStep: string, cause?: unknown) {
    super('not_reachable', `${what} cannot be reached.`, nextStep, cause);
  }
}
