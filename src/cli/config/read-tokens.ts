import { ConfigError } from './config-error.ts';
import { type Grant, isRole, ROLES } from '../../api/access.ts';

/** RFC 6750: what can stand after `Bearer` in a header. */
const TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;
/** A guess at one of these takes longer than anybody has. Only asked for where others than this machine can guess. */
const STRONG_CHARS = 16;

/** The tokens that the environment names: `SECONDWIND_TOKEN` is an operator's, `SECONDWIND_TOKENS` say their role. */
export function readTokens(token: string | undefined, tokens: string | undefined): Grant[] {
  const grants: Grant[] = token === undefined ? [] : [{ role: 'operator', token: usable(token, 'SECONDWIND_TOKEN') }];
  for (const part of (tokens ?? '').split(',').filter((text) => text.trim() !== '')) {
    const [role = '', ...rest] = part.trim().split(':');
    if (!isRole(role) || rest.length === 0) {
      throw new ConfigError(
        'SECONDWIND_TOKENS has an entry that does not start with a role and a colon.',
        `Write it as viewer:<token>,reporter:<token>; the roles are ${ROLES.join(', ')}.`,
      );
    }
    grants.push({ role, token: usable(rest.join(':'), 'SECONDWIND_TOKENS') });
  }
  if (new Set(grants.map((grant) => grant.token)).size < grants.length) {
    throw new ConfigError('One token is named twice.', 'Give each entry of SECONDWIND_TOKENS a token of its own.');
  }
  return grants;
}

export const isStrong = ({ token }: Grant): boolean => token.length >= STRONG_CHARS;

function usable(token: string, variable: string): string {
  if (TOKEN.test(token)) return token;
  throw new ConfigError(
    `${variable} holds a token that no HTTP header can carry.`,
    'Use letters, digits and - . _ ~ + / only, for example the output of `openssl rand -hex 24`.',
  );
}
