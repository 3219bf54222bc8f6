import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { canonicalize } from 'json-canonicalize';

/**
 * Ids are derived from run, step and attempt, never random: they are equal in both worlds, and writing a record twice
 * is writing it once.
 */
export const ID_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;
export const isId = (text: unknown): text is string => typeof text === 'string' && ID_PATTERN.test(text);

export const sha256Hex = (text: string): string => bytesToHex(sha256(utf8ToBytes(text)));

/** RFC 8785, so that key order never matters. `undefined` members are dropped as JSON does. */
export const canonicalJson = (value: unknown): string => canonicalize(value ?? null);
export const hashOfJson = (value: unknown): string => sha256Hex(canonicalJson(value));

/** Ids have 128 characters at most, and so has a run's id: long ones are shortened by their hash, to leave room. */
const runPart = (runId: string): string =>
  runId.length <= 80 ? runId : `${runId.slice(0, 60)}-${sha256Hex(runId).slice(0, 16)}`;

export const workflowIdOfRun = (runId: string): string => `agent-run/${runId}`;
export const runIdOfWorkflow = (workflowId: string): string | null =>
  workflowId.startsWith('agent-run/') ? workflowId.slice('agent-run/'.length) : null;

const GUARD_PREFIX = 'loop-guard/';
export const workflowIdOfGuard = (family: string): string => GUARD_PREFIX + family;
export const familyOfGuardWorkflow = (workflowId: string): string | null =>
  workflowId.startsWith(GUARD_PREFIX) ? workflowId.slice(GUARD_PREFIX.length) : null;

/** `loop_<run>`; a run called `r7` must not get a loop that looks like the seventh rerun of something. */
export const defaultLoopId = (runId: string): string => {
  const id = `loop_${runPart(runId)}`;
  return /_r\d+$/.test(id) ? `${id}:1` : id;
};
export const actionId = (runId: string, stepId: number): string => `${runPart(runId)}:s${stepId}`;
export const toolCallId = (runId: string, stepId: number, attempt: number): string =>
  `${runPart(runId)}:s${stepId}:a${attempt}`;
export const failureId = (runId: string, stepId: number, attempt: number, ordinal: number): string =>
  `${runPart(runId)}:s${stepId}:a${attempt}:f${ordinal}`;
/** A step's own run: who looks at its id sees whose it is. */
export const subRunId = (runId: string, stepId: number, attempt: number): string =>
  `${runPart(runId)}.s${stepId}.a${attempt}`;
export const questionId = (runId: string, ordinal: number): string => `${runPart(runId)}:q${ordinal}`;
/** The same for all attempts of a step: the receiver can tell a repetition from a new order. */
export const idempotencyKey = (runId: string, stepId: number): string => `${runId}:${stepId}`;
