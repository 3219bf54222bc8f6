import { promisify } from 'node:util';
import { gunzipSync, gzip } from 'node:zlib';
import { CAP } from '../protocol/caps.ts';
import { sha256Hex } from '../protocol/ids.ts';
import { isRecord } from '../protocol/json.ts';
import type { TextArtifact } from '../protocol/records.ts';

/** Packs the bytes of an output for the result of its activity. Returns null if they are too large even compressed. */
export async function packOutput(bytes: Uint8Array): Promise<string | null> {
  const packed = await promisify(gzip)(bytes);
  return packed.byteLength > CAP.carriedBytes ? null : packed.toString('base64');
}

/** The output that a tool's result carries, or null. */
export function unpackOutput(result: unknown): TextArtifact | null {
  if (!isRecord(result) || typeof result['carried'] !== 'string' || typeof result['artifact_id'] !== 'string')
    return null;
  try {
    const text = gunzipSync(Buffer.from(result['carried'], 'base64')).toString('utf8');
    return sha256Hex(text) === result['artifact_id'] ? { id: result['artifact_id'], text } : null;
  } catch {
    return null;
  }
}
