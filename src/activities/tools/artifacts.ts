import { createHash } from 'node:crypto';
import { CAP } from '../../protocol/caps.ts';
import { canonicalJson } from '../../protocol/ids.ts';
import type { KeptArtifact, ToolCallRequest } from '../../protocol/tools.ts';
import type { JsonDigest } from '../../threads/thread-tasks.ts';
import type { ToolEnvironment } from './tool-environment.ts';
import { tryWithin } from './with-timeout.ts';

/** Timeout for saving what is only needed for inspection later. */
const SAVE_ONCE_MS = 2_000;

/**
 * Saves a tool's output, and waits for the store if it is unavailable. The tool has already done its work, so a store
 * outage must not make the work look undone and be repeated.
 */
export async function saveWithRetries(
  env: ToolEnvironment,
  { step_id }: Pick<ToolCallRequest, 'step_id'>,
  { artifact_id, bytes }: JsonDigest,
  moreMs = 0,
): Promise<boolean> {
  try {
    await env.waitForStore(`save the output of step ${step_id}`, () => env.saveArtifact(artifact_id, bytes), moreMs);
    return true;
  } catch {
    return false;
  }
}

/**
 * Tries once to save a text, because a run does not depend on it. Returns the artifact's id, or null if it could not be
 * saved.
 */
export async function saveOnce(
  env: ToolEnvironment,
  content: string | Uint8Array,
  mediaType: string,
): Promise<string | null> {
  const id = createHash('sha256').update(content).digest('hex');
  const saved = await tryWithin(SAVE_ONCE_MS, async () => {
    await env.saveArtifact(id, content, mediaType);
    return true;
  });
  return saved === true ? id : null;
}

/**
 * Saves an input that is too long for its preview in the list of steps, so that people can read the whole. Its id is the hash of the
 * input, so readers find it without a record of it.
 */
export async function keepLongInput({ input }: ToolCallRequest, env: ToolEnvironment): Promise<void> {
  if (JSON.stringify(input).length > CAP.previewChars) await saveOnce(env, canonicalJson(input), 'application/json');
}

/** Saves bytes exactly as they came, because later steps read them. Secrets are redacted where people read them. */
export async function keepBytes(
  env: ToolEnvironment,
  what: string,
  bytes: Uint8Array,
  mediaType: string,
): Promise<KeptArtifact | null> {
  const artifact_id = await saveOnce(env, bytes, mediaType);
  return artifact_id === null ? null : { artifact_id, what: what.slice(0, 40), bytes: bytes.byteLength };
}
