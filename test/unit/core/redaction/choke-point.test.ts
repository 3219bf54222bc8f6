/**
 * The data converter as the choke point: what goes to Temporal holds no secret, however JSON spells it. Needs no server.
 * What comes back is covered by the bad signals in test/stack/temporal-cli.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../../../src/core/redaction/redact.ts';
import { createDataConverter, UNDECODABLE_KEY } from '../../../../src/client/data-converter.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const codec = createDataConverter({ redact: createRedactor(['two\nlines "quoted"', 'known-value']) })
  .payloadCodecs?.[0];

async function sent(value: unknown): Promise<string> {
  const payload = { metadata: { encoding: bytes('json/plain') }, data: bytes(JSON.stringify(value)) };
  const [encoded] = (await codec?.encode([payload])) ?? [];
  return new TextDecoder().decode(encoded?.data ?? new Uint8Array());
}

async function received(encoding: string | null, data: Uint8Array): Promise<unknown> {
  const metadata: Record<string, Uint8Array> = encoding === null ? {} : { encoding: bytes(encoding) };
  const [decoded] = (await codec?.decode([{ metadata, data }])) ?? [];
  return JSON.parse(new TextDecoder().decode(decoded?.data ?? new Uint8Array()));
}

describe('on its way to Temporal', () => {
  const pem = '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----';

  it('a text with a secret is cleaned', async () => {
    expect(await sent({ a: ['Bearer abcdefghijklmnopqrstuvwxyz', 1] })).toBe('{"a":["Bearer [redacted:bearer]",1]}');
    expect(await sent({ a: 'x known-value y' })).toBe('{"a":"x [redacted:known] y"}');
  });

  it('a secret with line breaks is cleaned, although JSON spells them as \\n', async () => {
    expect(await sent({ a: pem })).toBe('{"a":"[redacted:private_key]"}');
    expect(await sent({ a: 'two\nlines "quoted"' })).toBe('{"a":"[redacted:known]"}');
  });

  it('a secret in JSON inside a text is cleaned, although its quotes are escaped', async () => {
    expect(await sent({ args: '{"password": "correct-horse"}' })).not.toContain('correct-horse');
  });

  it('a secret that only its key gives away is cleaned', async () => {
    expect(await sent({ password: 'correct-horse' })).not.toContain('correct-horse');
  });

  it('what holds no secret is left byte for byte', async () => {
    const value = { n: 1.5, text: 'tab\t quote " umlaut ü', list: [null, true] };
    expect(await sent(value)).toBe(JSON.stringify(value));
  });
});

describe('on its way back', () => {
  it.each([
    ['binary/encrypted', bytes('whatever')],
    ['json/protobuf', bytes('{}')],
    ['binary/protobuf', bytes('\u0001\u0002')],
    ['', bytes('{}')],
    [null, bytes('{}')],
    ['json/plain', bytes('{"cut')],
    ['json/plain', new Uint8Array([0xff, 0xfe, 0x00])],
    ['json/plain', new Uint8Array()],
  ])('a payload that nobody can read (%s) becomes a value that says so', async (encoding, data) => {
    expect(await received(encoding, data)).toEqual({ [UNDECODABLE_KEY]: expect.any(String) });
  });
});
