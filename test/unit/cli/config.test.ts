import { describe, expect, it } from 'vitest';
import { ConfigError, describeConfig, readConfig } from '../../../src/cli/config/read-config.ts';

const HOME = '/home/me';
const refusal = (env: NodeJS.ProcessEnv): ConfigError => {
  try {
    readConfig({ HOME, ...env });
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('it was accepted');
};

describe('the settings', () => {
  it('every setting has a default', () => {
    expect(readConfig({ HOME })).toMatchObject({
      port: 4680,
      host: '127.0.0.1',
      dataDir: expect.stringContaining('secondwind'),
      tokens: [],
      namespace: 'default',
      temporalAddress: undefined,
      databaseUrl: undefined,
    });
  });

  it('a misspelt setting is refused, with the nearest name', () => {
    expect(refusal({ SECONDWIND_PROT: '1' }).message).toBe(
      'There is no setting SECONDWIND_PROT; did you mean SECONDWIND_PORT?',
    );
    expect(refusal({ SECONDWIND_BANANA: '1' })).toMatchObject({ message: 'There is no setting SECONDWIND_BANANA.' });
  });

  it.each(['x', '-1', '65536', '1.5', '0x10'])('the port %s is refused', (port) => {
    expect(refusal({ SECONDWIND_PORT: port }).nextStep).toContain('SECONDWIND_PORT');
  });

  it('options of the command line override the environment', () => {
    const env = { HOME, SECONDWIND_PORT: '1000', SECONDWIND_DATA_DIR: '/a' };
    expect(readConfig(env, { port: '2000', dataDir: '/b' })).toMatchObject({ port: 2000, dataDir: '/b' });
    expect(readConfig(env)).toMatchObject({ port: 1000, dataDir: '/a' });
  });

  it('an empty variable counts as unset', () => {
    expect(readConfig({ HOME, SECONDWIND_PORT: '', TEMPORAL_NAMESPACE: ' ' })).toMatchObject({
      port: 4680,
      namespace: 'default',
    });
  });

  it('the default data folder is where the system keeps application data', () => {
    expect(readConfig({ XDG_DATA_HOME: '/x' }).dataDir).toBe('/x/secondwind');
  });
});

describe('encryption', () => {
  const key = Buffer.alloc(32, 1).toString('base64');

  it('is described by the ids of its keys, never by a key', () => {
    const told = JSON.stringify(describeConfig(readConfig({ SECONDWIND_ENCRYPTION_KEYS: `main-1:${key}` })));
    expect(told).toContain('on main-1');
    expect(told).not.toContain(key);
  });

  it('is refused with a malformed key before anything starts', () => {
    expect(() => readConfig({ SECONDWIND_ENCRYPTION_KEYS: 'main-1:short' })).toThrow(/main-1 .* is not 32 bytes/);
  });

  it('opens its codec to origins only, not to addresses with a path', () => {
    const origins = 'https://ui.example, http://localhost:8233';
    expect(readConfig({}).streaming).toBe(true);
    expect(readConfig({ SECONDWIND_STREAMING: 'off' }).streaming).toBe(false);
    expect(() => readConfig({ SECONDWIND_STREAMING: 'no' })).toThrow('SECONDWIND_STREAMING is no.');
    expect(readConfig({ SECONDWIND_CODEC_ORIGINS: origins }).codecOrigins).toEqual(origins.split(', '));
    expect(() => readConfig({ SECONDWIND_CODEC_ORIGINS: 'https://ui.example/x' })).toThrow(/not the origin of a page/);
    expect(() => readConfig({ SECONDWIND_CODEC_ORIGINS: '*' })).toThrow(/not the origin of a page/);
  });
});

describe('tokens', () => {
  it('tokens have roles', () => {
    const env = { HOME, SECONDWIND_TOKEN: 'boss', SECONDWIND_TOKENS: 'viewer:eyes, reporter:hands' };
    expect(readConfig(env).tokens).toEqual([
      { role: 'operator', token: 'boss' },
      { role: 'viewer', token: 'eyes' },
      { role: 'reporter', token: 'hands' },
    ]);
  });

  it.each(['king:abc', 'viewer', 'viewer:', 'viewer:a b', 'viewer:ä'])(
    'tokens of the form %s are refused',
    (tokens) => {
      expect(refusal({ SECONDWIND_TOKENS: tokens }).message).not.toContain('abc');
    },
  );

  it('one token cannot have two roles', () => {
    expect(refusal({ SECONDWIND_TOKEN: 'same', SECONDWIND_TOKENS: 'viewer:same' }).message).toContain('twice');
  });

  it('the rate limit of a token is a whole number', () => {
    expect(readConfig({ HOME }).rateLimit).toBe(200);
    expect(readConfig({ HOME, SECONDWIND_RATE_LIMIT: '5' }).rateLimit).toBe(5);
    for (const wrong of ['0', '-1', '1.5', 'many']) {
      expect(refusal({ SECONDWIND_RATE_LIMIT: wrong }).message).toContain(`The rate limit ${wrong} is not`);
    }
  });

  it('the description of the settings contains no tokens and no passwords', () => {
    const config = readConfig({
      HOME,
      SECONDWIND_TOKEN: 'hush-hush',
      SECONDWIND_TOKENS: 'viewer:psst-psst',
      DATABASE_URL: 'postgres://me:secret@db:5432/runs',
    });
    const text = JSON.stringify(describeConfig(config));
    expect(text).toContain('db:5432/runs');
    for (const secret of ['hush', 'psst', 'secret']) expect(text).not.toContain(secret);
  });
});
