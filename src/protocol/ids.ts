import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';

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
/** The id of a decision of a guard. */
export const decisionId = (runId: string, ordinal: number): string => `${shortenRunId(runId)}:d${ordinal}`;
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

/**
 * Canonical JSON (RFC 8785), in which the order of keys does not matter. `undefined` members are dropped and `undefined`
 * items are null, as in JSON. Throws for a number that is not finite and for a value that contains itself.
 */
export const canonicalJson = (value: unknown): string =>
  isCanonical(value ?? null, 0) ? JSON.stringify(value ?? null) : write(value ?? null, []);

/** A value with more levels is written step by step, which also finds a value that contains itself. */
const CHECKED_LEVELS = 20;

/**
 * True if `JSON.stringify` writes the value in its canonical form, because the members of every object are in order. It
 * is several times as fast, and hashes of this text are computed several times in every attempt.
 */
function isCanonical(value: unknown, level: number): boolean {
  if (typeof value === 'string' || value === null || value === undefined) return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object') return typeof value === 'boolean';
  if (level === CHECKED_LEVELS || hasToJson(value)) return false;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) if (!isCanonical(value[index], level + 1)) return false;
    return true;
  }
  const members = value as Record<string, unknown>;
  let before = '';
  for (const key of Object.keys(members)) {
    if (key < before || !isCanonical(members[key], level + 1)) return false;
    before = key;
  }
  return true;
}

/** Writes the canonical form without a general library. */
function write(value: unknown, within: object[]): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number') return writeNumber(value);
  if (value === null || value === undefined) return 'null';
  if (typeof value !== 'object' || hasToJson(value)) return JSON.stringify(value);
  if (within.includes(value)) throw new TypeError('A value that contains itself cannot be written as JSON.');
  within.push(value);
  const text = Array.isArray(value) ? writeList(value, within) : writeObject(value as Record<string, unknown>, within);
  within.pop();
  return text;
}

const hasToJson = (value: { toJSON?: unknown }): boolean => value.toJSON !== undefined && value.toJSON !== null;

function writeNumber(value: number): string {
  if (!Number.isFinite(value)) throw new TypeError(`The number ${value} cannot be written as JSON.`);
  return String(value);
}

function writeList(items: readonly unknown[], within: object[]): string {
  let text = '';
  for (let index = 0; index < items.length; index += 1)
    text += `${index === 0 ? '' : ','}${write(items[index], within)}`;
  return `[${text}]`;
}

/** `sort` compares UTF-16 code units, which is the order of the RFC. */
function writeObject(members: Record<string, unknown>, within: object[]): string {
  let text = '';
  for (const key of Object.keys(members).sort()) {
    const member = members[key];
    if (member !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${write(member, within)}`;
  }
  return `{${text}}`;
}

/**
 * The SHA-256 of the text as UTF-8, in hexadecimal. A run hashes small texts many times in every step, so these reuse one
 * buffer and one hasher: creating them costs more than the hash itself.
 */
export function sha256Hex(text: string): string {
  if (text.length * MOST_BYTES_PER_UNIT > bytes.length) return bytesToHex(sha256(encoder.encode(text)));
  const { written } = encoder.encodeInto(text, bytes);
  // oxlint-disable-next-line no-underscore-dangle -- the public way to use a hasher again
  unused._cloneInto(hasher);
  hasher.update(bytes.subarray(0, written)).digestInto(digest);
  return bytesToHex(digest);
}

const encoder = new TextEncoder();
/** One UTF-16 unit takes at most three bytes of UTF-8. */
const MOST_BYTES_PER_UNIT = 3;
const bytes = new Uint8Array(8_192);
const digest = new Uint8Array(32);
const unused = sha256.create();
const hasher = sha256.create();
