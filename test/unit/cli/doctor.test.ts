/** What `secondwind doctor` finds, on real sockets and files. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  checkApi,
  checkModel,
  checkNode,
  checkStore,
  checkTelemetry,
  checkTemporal,
  checkEncryption,
  checkToken,
} from '../../../src/cli/doctor/checks.ts';
import { readConfig } from '../../../src/cli/config/read-config.ts';
import { encryptionOfDataDir } from '../../../src/encryption/settings.ts';

const folder = (): string => {
  const path = mkdtempSync(join(tmpdir(), 'secondwind-doctor-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
};
async function serving(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('doctor', () => {
  it.each([
    ['20.18.9', 'failed'],
    ['20.19.0', 'ok'],
    ['22.0.0', 'ok'],
    ['18.20.0', 'failed'],
  ])('doctor reports Node %s as %s', (version, state) => {
    expect(checkNode(version)).toMatchObject({ state });
  });

  it('doctor distinguishes a model that answers, a bad key, an address without an answer, and no model', async () => {
    const keys: (string | undefined)[] = [];
    const url = await serving((request, response) => {
      keys.push(request.headers.authorization);
      response.writeHead(request.headers.authorization === 'Bearer good' ? 200 : 401).end('{}');
    });
    const asked = (env: NodeJS.ProcessEnv) => checkModel({ MODEL: 'm', OPENAI_BASE_URL: url, ...env });
    expect(await asked({ OPENAI_API_KEY: 'good' })).toMatchObject({ state: 'ok' });
    const refused = await asked({ OPENAI_API_KEY: 'bad-secret' });
    expect(refused).toMatchObject({ state: 'failed', next_step: 'Correct OPENAI_API_KEY.' });
    expect(JSON.stringify(refused)).not.toContain('bad-secret');
    const silent = await asked({ OPENAI_BASE_URL: 'http://127.0.0.1:1' });
    expect(silent).toMatchObject({ state: 'failed', unreachable: true });
    expect(await checkModel({})).toMatchObject({ state: 'note', found: expect.stringContaining('MODEL') });
    expect(await checkModel({ MODEL: 'm' })).toMatchObject({ state: 'failed', found: expect.stringContaining('KEY') });
    expect(keys).toEqual(['Bearer good', 'Bearer bad-secret']);
  });

  it('doctor distinguishes a free port from a taken one', async () => {
    const url = await serving((_request, response) => void response.end('hello'));
    const config = (port: string) => readConfig({ SECONDWIND_DATA_DIR: folder() }, { port });
    const taken = await checkApi(config(new URL(url).port), {});
    expect(taken).toMatchObject({ state: 'failed', next_step: expect.stringContaining('SECONDWIND_PORT') });
    expect(await checkApi(config('0'), {})).toMatchObject({ state: 'note', next_step: expect.stringContaining('dev') });
  });

  it('doctor reports configured servers that do not answer', async () => {
    const env = { TEMPORAL_ADDRESS: '127.0.0.1:1', DATABASE_URL: 'postgres://me:pw@127.0.0.1:1/x' };
    const config = readConfig(env);
    for (const finding of [await checkTemporal(config, env), await checkStore(config)]) {
      expect(finding).toMatchObject({ state: 'failed', unreachable: true, next_step: expect.stringMatching(/\w/) });
      expect(JSON.stringify(finding)).not.toContain('pw@');
    }
  });

  it('doctor reports a Temporal that is not installed yet, and fetches nothing', async () => {
    const env = { PATH: '', SECONDWIND_CACHE_DIR: folder() };
    expect(await checkTemporal(readConfig(env), env)).toMatchObject({ state: 'note' });
  });

  it('doctor reports a token that others can read', async () => {
    const dataDir = folder();
    const config = readConfig({ SECONDWIND_DATA_DIR: dataDir });
    expect(await checkToken(config)).toMatchObject({ state: 'note' });
    const file = join(dataDir, 'token');
    writeFileSync(file, 'x', { mode: 0o600 });
    expect(await checkToken(config)).toMatchObject({ state: 'ok' });
    chmodSync(file, 0o644);
    expect(await checkToken(config)).toMatchObject({ state: 'failed', next_step: `chmod 600 ${file}` });
  });

  it('doctor shows whether encryption is on and with which key, and finds a key that others can read', async () => {
    const dataDir = folder();
    const check = (env: NodeJS.ProcessEnv) => checkEncryption(readConfig({ SECONDWIND_DATA_DIR: dataDir, ...env }));
    expect(await check({})).toMatchObject({ state: 'note' });
    await encryptionOfDataDir({}, dataDir);
    expect(await check({})).toMatchObject({ state: 'ok', found: expect.stringContaining('encryption.key') });
    chmodSync(join(dataDir, 'encryption.key'), 0o644);
    expect(await check({})).toMatchObject({ state: 'failed' });
    const keys = { SECONDWIND_ENCRYPTION_KEYS: `main-1:${Buffer.alloc(32, 1).toString('base64')}` };
    expect(await check(keys)).toMatchObject({ state: 'ok', found: expect.stringContaining('main-1 encrypts') });
    expect(await check({ ...keys, SECONDWIND_ENCRYPTION: 'off' })).toMatchObject({ state: 'note' });
    expect(await check({ TEMPORAL_ADDRESS: 'temporal:7233' })).toMatchObject({ state: 'note' });
  });

  it('doctor shows whether telemetry is on and its collector answers, and never fails because of it', async () => {
    expect(await checkTelemetry({})).toMatchObject({ state: 'ok', found: expect.stringMatching(/^off/) });
    const asked: (string | undefined)[] = [];
    const url = await serving((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      response.writeHead(request.url === '/v1/traces' ? 200 : 404).end();
    });
    const there = { OTEL_EXPORTER_OTLP_ENDPOINT: url };
    expect(await checkTelemetry(there)).toMatchObject({
      state: 'ok',
      found: expect.stringContaining('without prompts'),
    });
    expect(asked).toEqual(['POST /v1/traces']);
    const secret = 'http://me:pass-9931@127.0.0.1:1/hook-9931';
    for (const env of [{ OTEL_EXPORTER_OTLP_ENDPOINT: `${url}/wrong` }, { OTEL_EXPORTER_OTLP_ENDPOINT: secret }]) {
      const finding = await checkTelemetry(env);
      expect(finding).toMatchObject({
        state: 'note',
        next_step: expect.stringContaining('OTEL_EXPORTER_OTLP_ENDPOINT'),
      });
      expect(JSON.stringify(finding)).not.toContain('9931');
    }
    expect(await checkTelemetry({ ...there, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })).toMatchObject({ state: 'note' });
  });
});
