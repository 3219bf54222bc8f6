import { createHash, timingSafeEqual } from 'node:crypto';
import { type Grant, mayAct, type Role } from './roles.ts';
import { Problem } from '../problem.ts';

export type TokenCheck = (authorization: string | undefined, needs: Role) => Grant;

/** Compares with every token, by hashes of one length: how long it takes tells nothing about any of them. */
export function createTokenCheck(grants: readonly Grant[]): TokenCheck {
  const known = grants.map((grant) => ({ grant, hash: hashOf(grant.token) }));
  return (authorization, needs) => {
    const shown = /^Bearer +(?<token>[A-Za-z0-9._~+/-]+=*) *$/i.exec(authorization ?? '')?.groups?.['token'];
    if (shown === undefined) throw noToken('Send the header "Authorization: Bearer <token>".');
    const hash = hashOf(shown);
    let found: Grant | undefined;
    for (const entry of known) if (timingSafeEqual(entry.hash, hash)) found = entry.grant;
    if (found === undefined) throw noToken('This token is not known.');
    if (mayAct(found.role, needs)) return found;
    throw new Problem(
      'weaker_role',
      `This needs the role ${needs}; the token has the role ${found.role}. Use another token.`,
    );
  };
}

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest();

const noToken = (what: string): Problem =>
  new Problem(
    'no_token',
    `${what} \`secondwind dev\` prints a line that carries one and keeps it in the file "token" of the data folder.`,
    { headers: { 'www-authenticate': 'Bearer realm="secondwind"' } },
  );
