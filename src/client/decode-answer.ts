import type { Client } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import { EncryptionKeyError } from '../encryption/errors.ts';
import { isRecord } from '../protocol/json.ts';
import { isEncrypted } from './payload-codec.ts';

/**
 * Decrypts, in place, every payload in a raw answer of the server: the SDK decodes only what its own methods return. Messages of
 * failures are put back where they are looked for.
 *
 * @param options.skipUnknownKeys leaves a payload as it is when its key is not here, so that one run does not spoil a whole list
 * @throws EncryptionKeyError
 */
export async function decodeAnswer<Answer>(
  client: Client,
  answer: Answer,
  options: { skipUnknownKeys?: boolean } = {},
): Promise<Answer> {
  const found: Found = { payloads: [], failures: [] };
  collect(answer, found);
  for (const payload of found.payloads) {
    try {
      Object.assign(payload, await decode(client, payload));
    } catch (error) {
      if (!(options.skipUnknownKeys && error instanceof EncryptionKeyError)) throw error;
    }
  }
  for (const failure of found.failures) restoreMessage(failure);
  return answer;
}

interface Found {
  payloads: Payload[];
  failures: Record<string, unknown>[];
}

function collect(value: unknown, found: Found): void {
  if (Array.isArray(value)) {
    for (const item of value) collect(item, found);
    return;
  }
  if (!isRecord(value) || ArrayBuffer.isView(value)) return;
  if (isRecord(value['metadata']) && isEncrypted(value)) {
    found.payloads.push(value);
    return;
  }
  if (isRecord(value['encodedAttributes'])) found.failures.push(value);
  for (const member of Object.values(value)) collect(member, found);
}

async function decode(client: Client, payload: Payload): Promise<Payload> {
  let decoded = [payload];
  for (const codec of client.options.loadedDataConverter.payloadCodecs.toReversed())
    decoded = await codec.decode(decoded);
  return decoded[0] ?? payload;
}

/** As the SDK's failure converter does when it makes an error of a failure. */
function restoreMessage(failure: Record<string, unknown>): void {
  const { data } = failure['encodedAttributes'] as Payload;
  try {
    const { message, stack_trace: stackTrace } = JSON.parse(
      new TextDecoder().decode(data ?? new Uint8Array()),
    ) as Record<string, unknown>;
    if (typeof message === 'string') failure['message'] = message;
    if (typeof stackTrace === 'string') failure['stackTrace'] = stackTrace;
  } catch {
    // Not one of ours: the message stays as the server has it.
  }
}
