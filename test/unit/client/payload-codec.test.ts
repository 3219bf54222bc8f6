/**
 * The codec between us and Temporal: what rests there is encrypted, what comes back is byte for byte what was sent, and what
 * nobody can read never stops a run. Needs no server; test/stack/encryption.test.ts has the same on a stack.
 */
import { describe, expect, it } from 'vitest';
import type { Payload } from '@temporalio/common';
import { createCodec, UNDECODABLE_KEY } from '../../../src/client/payload-codec.ts';
import { createEncryption } from '../../../src/encryption/encryption.ts';
import { EncryptionKeyError } from '../../../src/encryption/errors.ts';
import { mainKey } from '../../../src/encryption/main-key.ts';
import { PAYLOAD_MARK } from '../../../src/protocol/payload-marks.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (value: Uint8Array | null | undefined): string => Buffer.from(value ?? []).toString();
const json = (value: unknown): Payload => ({
  metadata: { encoding: bytes('json/plain') },
  data: bytes(JSON.stringify(value)),
});
const keyA = mainKey('a', new Uint8Array(32).fill(1));
const keyB = mainKey('b', new Uint8Array(32).fill(2));
const codecWith = (...keys: Parameters<typeof createEncryption>[0]) => createCodec(createEncryption(keys));
const ofRun = (workflowId: string) => ({ type: 'workflow', namespace: 'default', workflowId }) as const;

type Codec = ReturnType<typeof createCodec>;
async function encode(codec: Codec, payload: Payload, run = 'agent-run/r1'): Promise<Payload> {
  const [encoded] = await codec.encode([payload], ofRun(run));
  if (encoded === undefined) throw new Error('no payload');
  return encoded;
}
async function decode(codec: Codec, payload: Payload, run = 'agent-run/r1'): Promise<Payload> {
  const [decoded] = await codec.decode([payload], ofRun(run));
  if (decoded === undefined) throw new Error('no payload');
  return decoded;
}
const dataKeyOf = (payload: Payload): string => text(payload.metadata?.['encryption-data-key']);

describe('a payload on its way to Temporal', () => {
  it('is encrypted, and comes back byte for byte', async () => {
    const codec = codecWith(keyA);
    const sent = json({ password: 'correct-horse', ids: ['sk-learn-training-2026-11-16'], text: 'tab\t ü "q"' });
    const encrypted = await encode(codec, sent);
    expect(text(encrypted.metadata?.['encoding'])).toBe('binary/encrypted');
    expect(text(encrypted.data)).not.toContain('correct-horse');
    const decoded = await decode(codec, encrypted);
    expect(text(decoded.data)).toBe(text(sent.data));
    expect(text(decoded.metadata?.['encoding'])).toBe('json/plain');
  });

  it.each<[string, Payload]>([
    ['bytes', { metadata: { encoding: bytes('binary/plain') }, data: new Uint8Array([0, 255, 1]) }],
    ['more metadata', { metadata: { encoding: bytes('json/plain'), type: bytes('order') }, data: bytes('{}') }],
  ])('keeps its metadata: %s', async (_what, sent) => {
    const codec = codecWith(keyA);
    const { metadata, data } = await decode(codec, await encode(codec, sent));
    const { [PAYLOAD_MARK.wasEncrypted]: _mark, ...rest } = metadata ?? {};
    expect(Object.entries(rest).map(([name, value]) => [name, text(value)])).toEqual(
      Object.entries(sent.metadata ?? {}).map(([name, value]) => [name, text(value)]),
    );
    expect(Buffer.from(data ?? []).equals(sent.data ?? new Uint8Array())).toBe(true);
  });

  it('without metadata becomes a value that says so', async () => {
    const codec = codecWith(keyA);
    const decoded = await decode(codec, await encode(codec, { data: bytes('{}') }));
    expect(text(decoded.data)).toContain(UNDECODABLE_KEY);
  });

  it('differs each time, although the value is the same', async () => {
    const codec = codecWith(keyA);
    const [one, other] = [await encode(codec, json('x')), await encode(codec, json('x'))];
    expect(text(one.data)).not.toBe(text(other.data));
  });

  it('has the data key of its run, which a second process takes over from what it reads', async () => {
    const [starter, worker] = [codecWith(keyA), codecWith(keyA)];
    const input = await encode(starter, json('input'));
    expect(dataKeyOf(await encode(starter, json('more')))).toBe(dataKeyOf(input));
    expect(dataKeyOf(await encode(starter, json('other run'), 'agent-run/r2'))).not.toBe(dataKeyOf(input));
    await decode(worker, input);
    expect(dataKeyOf(await encode(worker, json('output')))).toBe(dataKeyOf(input));
  });

  it('is left alone when it is marked as readable, has no content, or encryption is off', async () => {
    const readable: Payload = { ...json('answer') };
    readable.metadata = { ...readable.metadata, [PAYLOAD_MARK.readable]: bytes('1') };
    const empty: Payload = { metadata: { encoding: bytes('binary/null') } };
    const codec = codecWith(keyA);
    // Without the mark, with which Temporal's command line would not write it as JSON.
    expect(await encode(codec, readable)).toEqual(json('answer'));
    expect(await encode(codec, empty)).toBe(empty);
    const plain = json('plain');
    expect(await encode(createCodec(createEncryption([])), plain)).toBe(plain);
  });
});

describe('after a change of keys', () => {
  it('old payloads are read with the old key, and new ones are written with the new key', async () => {
    const old = await encode(codecWith(keyA), json('old'));
    const rotated = codecWith(keyB, keyA);
    expect(text((await decode(rotated, old)).data)).toBe('"old"');
    const fresh = await encode(rotated, json('new'));
    expect(text(fresh.metadata?.['encryption-key-id'])).toBe(keyB.mark);
    expect(text((await decode(codecWith(keyB), fresh)).data)).toBe('"new"');
  });

  it('encryption that was turned off still reads what is there, and adds nothing', async () => {
    const old = await encode(codecWith(keyA), json('old'));
    const off = createCodec(createEncryption([keyA], false));
    expect(text((await decode(off, old)).data)).toBe('"old"');
    const plain = json('new');
    expect(await encode(off, plain)).toBe(plain);
  });

  it('a process without the key says which one is missing, and what to do', async () => {
    const encrypted = await encode(codecWith(keyA), json('x'));
    const said = /encrypted with the key a, and this process has b\. Add the key a to SECONDWIND_ENCRYPTION_KEYS/;
    await expect(decode(codecWith(keyB), encrypted)).rejects.toThrow(said);
    await expect(decode(createCodec(createEncryption([])), encrypted)).rejects.toThrow(/has no keys/);
    await expect(decode(codecWith(keyB), encrypted)).rejects.toThrow(EncryptionKeyError);
  });

  it('another key under the same id is told from damage', async () => {
    const encrypted = await encode(codecWith(keyA), json('x'));
    const namesake = codecWith(mainKey('a', new Uint8Array(32).fill(9)));
    await expect(decode(namesake, encrypted)).rejects.toThrow(/another key under the id a/);
  });
});

describe('a payload on its way back', () => {
  it.each([
    ['json/protobuf', bytes('{}')],
    ['binary/encrypted', bytes('whatever')],
    ['binary/protobuf', bytes('\u0001\u0002')],
    ['', bytes('{}')],
    [null, bytes('{}')],
    ['json/plain', bytes('{"cut')],
    ['json/plain', new Uint8Array([0xff, 0xfe, 0x00])],
    ['json/plain', new Uint8Array()],
  ])('that nobody can read (%s) becomes a value that says so', async (encoding, data) => {
    const metadata: Record<string, Uint8Array> = encoding === null ? {} : { encoding: bytes(encoding) };
    const decoded = await decode(codecWith(keyA), { metadata, data });
    expect(JSON.parse(text(decoded.data))).toEqual({ [UNDECODABLE_KEY]: expect.any(String) });
  });

  it.each(['data', 'data key'])('whose %s was changed becomes a value that says so', async (part) => {
    const codec = codecWith(keyA);
    const encrypted = await encode(codec, json('x'));
    const changed = Buffer.from((part === 'data' ? encrypted.data : encrypted.metadata?.['encryption-data-key']) ?? []);
    changed[20] = (changed[20] ?? 0) ^ 1;
    const forged: Payload =
      part === 'data'
        ? { ...encrypted, data: changed }
        : { ...encrypted, metadata: { ...encrypted.metadata, 'encryption-data-key': changed } };
    expect(JSON.parse(text((await decode(codec, forged)).data))).toEqual({ [UNDECODABLE_KEY]: expect.any(String) });
  });

  it('in plain JSON, as the bare temporal command sends it, is read as it is', async () => {
    const plain = json({ agent: 'demo' });
    expect(await decode(codecWith(keyA), plain)).toBe(plain);
  });
});
