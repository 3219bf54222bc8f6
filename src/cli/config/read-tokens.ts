import { ConfigError } from './config-error.ts';
import { type TokenGrant, isRole, ROLES } from '../../api/access.ts';
import { defined } from '../../protocol/json.ts';
import { TENANT_PATTERN } from '../../protocol/ids.ts';

/** The format of a bearer token (RFC 6750). */
const TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;
/** The length that cannot be guessed. It is required only if other machines can reach the API. */
const STRONG_CHARS = 16;

/**
 * Reads the tokens of the environment: `SECONDWIND_TOKEN` has the role operator, `SECONDWIND_TOKENS` name their roles and, after
 * an `@`, the tenant they act for.
 */
export function readTokens(token: string | undefined, tokens: string | undefined): TokenGrant[] {
  const grants: TokenGrant[] =
    token === undefined ? [] : [{ role: 'operator', token: checkToken(token, 'SECONDWIND_TOKEN') }];
  for (const part of (tokens ?? '').split(',').filter((text) => text.trim() !== '')) {
    const [holder = '', ...rest] = part.trim().split(':');
    const [role = '', tenant] = holder.split('@');
    if (!isRole(role) || rest.length === 0 || (tenant !== undefined && !TENANT_PATTERN.test(tenant))) {
      throw new ConfigError(
        'SECONDWIND_TOKENS has an entry that does not start with a role and a colon.',
        `Write it as viewer:<token>,reporter@<tenant>:<token>; the roles are ${ROLES.join(', ')}.`,
      );
    }
    grants.push({ role, token: checkToken(rest.join(':'), 'SECONDWIND_TOKENS'), ...defined({ tenant }) });
  }
  if (new Set(grants.map((grant) => grant.token)).size < grants.length) {
    throw new ConfigError('The same token appears twice.', 'Give each entry of SECONDWIND_TOKENS its own token.');
  }
  return grants;
}

export const isStrong = ({ token }: TokenGrant): boolean => token.length >= STRONG_CHARS;

export const isToken = (text: string): boolean => TOKEN.test(text);

function checkToken(token: string, variable: string): string {
  if (isToken(token)) return token;
  throw new ConfigError(
    `${variable} contains a token with characters that are not allowed in an HTTP header.`,
    'Use only letters, digits and - . _ ~ + /, for example the output of `openssl rand -hex 24`.',
  );
}
