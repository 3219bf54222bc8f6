import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redact } from '../../core/redaction/redact.ts';
import type { KeptArtifact } from '../../protocol/tools.ts';
import type { ToolEnvironment } from './environment.ts';
import { orNothing } from './with-timeout.ts';

const SAVE_TRIES = 5;
const SAVE_PAUSE_MS = 2_000;
/** What only helps to look back is not waited for longer than this. */
const BRIEFLY_MS = 2_000;

/** The tool has done its work: a store that is away must not make that work look undone, or be done again. */
export async function savePatiently(env: ToolEnvironment, id: string, text: string): Promise<boolean> {
  for (let tried = 1; ; tried += 1) {
    try {
      await env.saveArtifact(id, text);
      return true;
    } catch {
      if (tried === SAVE_TRIES || env.stopped() !== null) return false;
      await sleep(SAVE_PAUSE_MS);
    }
  }
}

/** One try: a store that is away never stands in the way. Gives the id, null when it could not be kept. */
export async function saveBriefly(
  env: ToolEnvironment,
  content: string | Uint8Array,
  mediaType: string,
): Promise<string | null> {
  const id = createHash('sha256').update(content).digest('hex');
  const saved = await orNothing(BRIEFLY_MS, async () => {
    await env.saveArtifact(id, content, mediaType);
    return true;
  });
  return saved === true ? id : null;
}

/** Bytes as they came, without the secrets that can be read in them. */
export async function keepBytes(
  env: ToolEnvironment,
  what: string,
  bytes: Uint8Array,
  mediaType: string,
): Promise<KeptArtifact | null> {
  const clean = redactBytes(bytes, env.redact);
  const artifact_id = await saveBriefly(env, clean, mediaType);
  return artifact_id === null ? null : { artifact_id, what: what.slice(0, 40), bytes: clean.byteLength };
}

/** What is no UTF-8 is looked at byte by byte: secrets are mostly ASCII, and everything else comes out as it went in. */
export function redactBytes(bytes: Uint8Array, redact: Redact): Uint8Array {
  const text = utf8OrNull(bytes);
  const readable = text ?? Buffer.from(bytes).toString('latin1');
  const clean = redact(readable);
  return clean === readable ? bytes : Buffer.from(clean, text === null ? 'latin1' : 'utf8');
}

function utf8OrNull(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
