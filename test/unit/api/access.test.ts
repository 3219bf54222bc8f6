import { describe, expect, it } from 'vitest';
import { checkHost, checkOrigin, createTokenCheck } from '../../../src/api/access.ts';

describe('a request is addressed to', () => {
  it.each(['localhost', 'LOCALHOST:4680', '127.0.0.1:1', '[::1]:4680', 'runs.example:443'])(
    'a request for the host %s is accepted',
    (host) => {
      expect(() => checkHost(host, ['runs.example'])).not.toThrow();
    },
  );

  it.each([
    undefined,
    '',
    'evil.example',
    'localhost.evil.example',
    'localhost@evil.example',
    '127.0.0.1.nip.io',
    'localhost:',
    'localhost:80:80',
    'localhost, evil.example',
    '0.0.0.0',
    '127.1',
  ])('a request for the host %s is refused', (host) => {
    expect(() => checkHost(host, ['runs.example'])).toThrow(expect.objectContaining({ code: 'foreign_host' }));
  });
});

describe('a page', () => {
  it.each([undefined, 'http://localhost:4680', 'https://runs.example', 'http://127.0.0.1'])(
    'the origin %s is accepted',
    (origin) => {
      expect(() => checkOrigin(origin, ['runs.example'])).not.toThrow();
    },
  );

  it.each(['null', '', 'https://evil.example', 'file://', 'http://localhost.evil.example', 'chrome-extension://x'])(
    'the origin %s is refused',
    (origin) => {
      expect(() => checkOrigin(origin, ['runs.example'])).toThrow(expect.objectContaining({ code: 'foreign_origin' }));
    },
  );
});

describe('a token', () => {
  const check = createTokenCheck([
    { role: 'operator', token: 'boss' },
    { role: 'viewer', token: 'eyes' },
  ]);

  it('a token is recognised by its whole text, after Bearer in upper or lower case', () => {
    expect(check('Bearer boss', 'operator')).toMatchObject({ role: 'operator' });
    expect(check('bearer eyes', 'viewer')).toMatchObject({ role: 'viewer' });
  });

  it.each([undefined, '', 'boss', 'Bearer', 'Bearer bos', 'Bearer bosss', 'Basic boss', 'Bearer boss eyes'])(
    'a token is not accepted as %s',
    (header) => {
      expect(() => check(header, 'viewer')).toThrow(expect.objectContaining({ code: 'no_token' }));
    },
  );

  it('a token may do what its role and the weaker roles may', () => {
    expect(() => check('Bearer boss', 'viewer')).not.toThrow();
    expect(() => check('Bearer eyes', 'reporter')).toThrow(expect.objectContaining({ code: 'weaker_role' }));
  });
});
