import type { Payload } from '@temporalio/common';
import { isEncrypted } from '../../client/payload-codec.ts';
import { PAYLOAD_MARK } from '../../protocol/payload-marks.ts';
import { answerJson } from '../json-answer.ts';
import type { ApiDeps } from '../api-context.ts';
import { readBody } from '../read-request.ts';
import type { Route } from '../route.ts';
import { SCHEMAS } from '../schemas/all-schemas.ts';

/** Two of the largest payloads that Temporal takes, in base64. */
const CODEC_BYTES = 6 * 1024 * 1024;

/** One payload as protobuf writes it in JSON: bytes in base64. */
interface JsonPayload {
  metadata?: Record<string, string> | undefined;
  data?: string | undefined;
}

const codecRoute = (
  path: string,
  summary: string,
  convert: (deps: ApiDeps, payload: Payload) => Promise<Payload>,
): Route => ({
  method: 'post',
  path,
  role: 'operator',
  summary,
  body: 'Payloads',
  answer: { status: 200, description: 'As many payloads, in the same order', schema: 'Payloads' },
  problems: ['foreign_origin', 'encryption_key_missing'],
  handle: async (c, deps) => {
    const { payloads } = await readBody(c, SCHEMAS.Payloads, CODEC_BYTES);
    const converted: JsonPayload[] = [];
    for (const payload of payloads) converted.push(toJson(await convert(deps, fromJson(payload))));
    return answerJson(c, { payloads: converted });
  },
});

export const encodePayloads = codecRoute(
  '/codec/encode',
  'Encrypts payloads, for the UI and the command line of Temporal',
  async ({ codec }, payload) => (await codec?.payloadCodec.encode([payload]))?.[0] ?? payload,
);

/** A payload that is not encrypted may be of another program, in an encoding that is not ours to judge. */
export const decodePayloads = codecRoute(
  '/codec/decode',
  'Decrypts payloads, for the UI and the command line of Temporal',
  async ({ codec }, payload) => {
    if (!isEncrypted(payload)) return payload;
    const [decoded = payload] = (await codec?.payloadCodec.decode([payload])) ?? [];
    const { [PAYLOAD_MARK.wasEncrypted]: _mark, ...metadata } = decoded.metadata ?? {};
    return { ...decoded, metadata };
  },
);

const fromJson = ({ metadata = {}, data = '' }: JsonPayload): Payload => ({
  metadata: Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name, Buffer.from(value, 'base64')])),
  data: Buffer.from(data, 'base64'),
});

const toJson = ({ metadata, data }: Payload): JsonPayload => ({
  metadata: Object.fromEntries(Object.entries(metadata ?? {}).map(([name, value]) => [name, base64(value)])),
  data: base64(data ?? new Uint8Array()),
});

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
