import { canonicalJson } from './canonical-json.ts';
import { sha256Hex } from './sha256.ts';

export { canonicalJson, sha256Hex };

/**
 * Ids are derived from run, step and attempt, never random. So the simulator and Temporal produce the same ids, and
 * writing a record twice has the same effect as writing it once.
 */
export const ID_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;
/** A tenant has no colon and no slash, so that it can be part of a key. */
export const TENANT_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
export const isId = (text: unknown): text is string => typeof text === 'string' && ID_PATTERN.test(text);

export const hashOfJson = (value: unknown): string => sha256Hex(canonicalJson(value));

/**
 * Ids have at most 128 characters. A long run id is shortened and gets its hash, to leave room for the rest of the id.
 */
const shortenRunId = (runId: string): string =>
  runId.length <= 80 ? runId : `${runId.slice(0, 60)}-${sha256Hex(runId).slice(0, 16)}`;

export const workflowIdOfRun = (runId: string): string => `agent-run/${runId}`;
export const runIdOfWorkflow = (workflowId: string): string | null =>
  workflowId.startsWith('agent-run/') ? workflowId.slice('agent-run/'.length) : null;

/** The workflow that writes the archive of an ended run once the store is back. */
export const workflowIdOfArchive = (runId: string): string => `archive/${runId}`;

const GUARD_PREFIX = 'loop-guard/';
export const workflowIdOfGuard = (family: string): string => GUARD_PREFIX + family;
export const familyOfGuardWorkflow = (workflowId: string): string | null =>
  workflowId.startsWith(GUARD_PREFIX) ? workflowId.slice(GUARD_PREFIX.length) : null;

/** `loop_<run>`. A run called `r7` must not get a loop id that looks like the seventh rerun of another loop. */
export const defaultLoopId = (runId: string): string => {
  const id = `loop_${shortenRunId(runId)}`;
  return /_r\d+$/.test(id) ? `${id}:1` : id;
};
export const actionId = (runId: string, stepId: number): string => `${shortenRunId(runId)}:s${stepId}`;
export const toolCallId = (runId: string, stepId: number, attempt: number): string =>
  `${shortenRunId(runId)}:s${stepId}:a${attempt}`;
export const failureId = (runId: string, stepId: number, attempt: number, ordinal: number): string =>
  `${shortenRunId(runId)}:s${stepId}:a${attempt}:f${ordinal}`;
/** The id of a sub-run, which names its parent run, step and attempt. */
export const subRunId = (runId: string, stepId: number, attempt: number): string =>
  `${shortenRunId(runId)}.s${stepId}.a${attempt}`;
export const questionId = (runId: string, ordinal: number): string => `${shortenRunId(runId)}:q${ordinal}`;
/** The identity of a call: equal for equal tools and inputs. */
export const callId = (tool: string, inputHash: string): string => `${tool}:${inputHash.slice(0, 32)}`;

/**
 * What a receiver recognizes a repeated request by. It is the same for all attempts of a step, and for an identical call later
 * in the family of runs unless one before it is known to be done.
 */
export const idempotencyKey = (of: { root_run_id: string; lane: string; call: string; nth: number }): string => {
  const lane = of.lane === '' ? '' : `~${sha256Hex(of.lane).slice(0, 8)}`;
  return `${shortenRunId(of.root_run_id)}${lane}:${of.call}:${of.nth}`;
};
