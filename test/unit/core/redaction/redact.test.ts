/**
 * The one place that takes secrets out, as a table of kinds and as properties. Needs nothing. Does not prove that every
 * secret of every vendor is known: only these kinds, and the values that the process itself holds.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor, redactJson, secretsOf } from '../../../../src/core/redaction/redact.ts';

const redact = createRedactor();

const alphanumeric = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
const chars = (length: number): string =>
  Array.from({ length }, (_, index) => alphanumeric[(index * 37 + 11) % alphanumeric.length]).join('');
const upper = (length: number): string => chars(length).toUpperCase();

const PEM = `-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n${chars(64)}\n${chars(64)}==\n-----END RSA PRIVATE KEY-----`;

/** kind → secrets of that kind, none of which may be left in the text around it. Made up, all of them. */
const kinds: Record<string, string[]> = {
  private_key: [PEM, PEM.replaceAll('RSA ', ''), PEM.replaceAll('RSA ', 'EC ').replaceAll('\n', '\r\n')],
  aws_key: [`AKIA${upper(16)}`, `ASIA${upper(16)}`],
  github_token: [`ghp_${chars(36)}`, `gho_${chars(36)}`, `ghs_${chars(40)}`],
  slack_token: [`xoxb-123456789012-123456789012-${chars(24)}`, `xoxp-1-2-3-${chars(20)}`],
  provider_key: [`sk-${chars(48)}`],
  stripe_key: [`sk_live_${chars(24)}`],
  google_key: [`AIza${chars(35)}`],
  npm_token: [`npm_${chars(36)}`],
  jwt: [`eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NSJ9.${chars(43)}`],
};

describe('a secret is taken out and the text around it stays', () => {
  for (const [kind, secrets] of Object.entries(kinds)) {
    it.each(secrets)(`${kind}: %s`, (secret) => {
      expect(redact(`before ${secret} after`)).toBe(`before [redacted:${kind}] after`);
      expect(redact(JSON.stringify([`before ${secret.replaceAll(/\s/g, ' ')}`]))).not.toContain(secret.slice(-20));
    });
  }

  it.each([
    ['Authorization: Bearer abcdefghijklmnop.qrst', 'Authorization: Bearer [redacted:authorization]'],
    ['authorization: Basic dXNlcjpwYXNzd29yZA==', 'authorization: Basic [redacted:authorization]'],
    ['postgres://app:hunter2@db:5432/x', 'postgres://app:[redacted:url_password]@db:5432/x'],
    ['fetch https://me:p%40ss@host/path?q=1', 'fetch https://me:[redacted:url_password]@host/path?q=1'],
    ['password=correct-horse', 'password=[redacted:assignment]'],
    ['DB_PASSWORD: "correct-horse"', 'DB_PASSWORD: "[redacted:assignment]"'],
    ["my_api_key = 'correct-horse', next", "my_api_key = '[redacted:assignment]', next"],
    ['?access_token=correct-horse&page=2', '?access_token=[redacted:assignment]&page=2'],
    ['{"client_secret":"correct-horse","n":1}', '{"client_secret":"[redacted:assignment]","n":1}'],
  ])('%s', (text, clean) => {
    expect(redact(text)).toBe(clean);
  });

  it('a value that this process holds as a secret, wherever it stands', () => {
    const known = createRedactor(['correct horse battery', 'correct horse', 'short']);
    expect(known('x correct horse battery y correct horse z short')).toBe(
      'x [redacted:known] y [redacted:known] z short',
    );
  });

  it('only variables whose names say so are held as secrets', () => {
    const environment = {
      OPENAI_API_KEY: 'one-secret',
      GITHUB_TOKEN: 'two-secret',
      PGPASSWORD_FILE: '/etc/pg',
      db_password: 'three-secret',
      GOOGLE_CREDENTIALS: 'four-secret',
      PATH: '/usr/bin',
      KEYBOARD: 'qwertyuiop',
      MONKEY: 'bananabanana',
      EMPTY_TOKEN: undefined,
    };
    expect(new Set(secretsOf(environment))).toEqual(
      new Set(['one-secret', 'two-secret', 'three-secret', 'four-secret']),
    );
  });

  it('a list of secrets in one variable is each of them', () => {
    expect(secretsOf({ SECONDWIND_TOKENS: 'viewer:first-secret,reporter:second-secret' })).toEqual(
      expect.arrayContaining(['first-secret', 'second-secret']),
    );
  });
});

describe('inside JSON', () => {
  it('every text is cleaned, keys too, and the shape stays', () => {
    const secret = `ghp_${chars(36)}`;
    const given = { a: [1, null, { [secret]: secret }], b: 'fine', c: true };
    expect(redactJson(given, redact)).toEqual({
      a: [1, null, { '[redacted:github_token]': '[redacted:github_token]' }],
      b: 'fine',
      c: true,
    });
  });

  it('a value without secrets is given back as it is', () => {
    const given = { a: [1, { b: 'plain' }] };
    expect(redactJson(given, redact)).toBe(given);
  });

  it('a secret that only its key gives away is taken out too', () => {
    expect(JSON.stringify(redactJson({ password: 'correct-horse', user: 'ada' }, redact))).toBe(
      '{"password":"[redacted:assignment]","user":"ada"}',
    );
  });
});

const secret = fc.constantFrom(
  ...Object.values(kinds).flat(),
  'Bearer abcdefghijklmnopqrst',
  'password=correct-horse',
  'https://a:b@c',
  'token: "',
  '[redacted:known]',
);
const textWithSecrets = fc
  .array(fc.oneof(secret, fc.string({ maxLength: 20 }), fc.constantFrom(' ', '\n', '"', '=', ':', '@', '-', '_')), {
    maxLength: 12,
  })
  .map((parts) => parts.join(''));

/** Letters, punctuation and numbers as people write them; no word of the secrets' own vocabulary. */
const word = fc.stringMatching(/^[a-z]{1,12}$/).filter((text) => !/pass|secret|key|token|bearer|basic/.test(text));
const sentence = fc
  .array(
    fc.oneof(
      word,
      fc.nat().map(String),
      fc.constantFrom('€', '日本語', 'Größe', 'a@b.example', 'v1.2.3', '/etc/hosts'),
    ),
    {
      maxLength: 20,
    },
  )
  .map((words) => words.join(' '));

describe('for any text', () => {
  it('redacting twice is redacting once', () => {
    const known = createRedactor(['known-secret-value']);
    fc.assert(
      fc.property(textWithSecrets, (text) => {
        const once = known(`${text} known-secret-value`);
        expect(known(once)).toBe(once);
      }),
      { numRuns: 2_000 },
    );
  });

  it('ordinary sentences are left alone', () => {
    fc.assert(
      fc.property(sentence, (text) => {
        expect(redact(text)).toBe(text);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    'The token bucket is full; 42 tokens left.',
    'skill-building, risk_management and task-list',
    'https://example.com/a:b/c?d=e@f',
    'Basic English is a language of 850 words',
    'sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    '0190f7d2-7c5e-7000-8000-0123456789ab',
    'tokens: 12345678',
    'secret: no',
  ])('ordinary text is left alone: %s', (text) => {
    expect(redact(text)).toBe(text);
  });
});

describe('hostile text', () => {
  const units = [
    '-----BEGIN PRIVATE KEY-----',
    '-----BEGIN A',
    'a-',
    'a_',
    'a.',
    'a+',
    'a://',
    'h://a:',
    'eyJaaaaaaaa.',
    'Bearer ',
    'password=',
    'token   :   ',
    'sk-a ',
    'A',
    ' ',
    '-',
  ];
  const measure = (unit: string, length: number): number => {
    const text = unit.repeat(Math.ceil(length / unit.length)).slice(0, length);
    const began = process.cpuUsage();
    redact(text);
    const { user, system } = process.cpuUsage(began);
    return (user + system) / 1000;
  };

  it.each(units)('costs time in step with its length: 1 MB of "%s"', (unit) => {
    measure(unit, 10_000);
    // The best of three, in processor time, because the machine is shared: what is measured is the pattern.
    const best = (length: number) => Math.min(...[1, 2, 3].map(() => measure(unit, length)));
    const [part, whole] = [best(1_000_000 / 16), best(1_000_000)];
    // Sixteen times the text: sixteen times the work, with room for noise; a quadratic pattern would need 256 times.
    expect(whole).toBeLessThan(64 * part + 150);
  });
});
