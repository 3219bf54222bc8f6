import { createContext, useContext } from 'react';
import { createHttpClient, type HttpClient } from '../../client/http/http-client.ts';
import { SecondwindError } from '../../protocol/errors.ts';

/** What the API says about a token. */
export interface SessionFacts {
  role: 'viewer' | 'reporter' | 'operator';
  version: string;
  temporal: { namespace: string; ui_url: string | null };
}

export interface Session extends SessionFacts {
  client: HttpClient;
  /** Leaves the session. With a reason, the sign-in page shows it. */
  leave: (reason?: string) => void;
}

export const SessionContext = createContext<Session | null>(null);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error('useSession is called outside of a session.');
  return session;
}

const KEY = 'secondwind-token';

/**
 * The token comes in the fragment of the link that `secondwind dev` prints, which a browser never sends. It is kept for this tab only,
 * and the fragment is removed, so that neither the history nor a copied address contains it.
 */
export function takeToken(): string | null {
  const given = /^#token=([A-Za-z0-9._~+/=-]+)$/.exec(location.hash)?.[1];
  if (given !== undefined) {
    sessionStorage.setItem(KEY, given);
    history.replaceState(history.state, '', location.pathname + location.search);
  }
  return sessionStorage.getItem(KEY);
}
export const keepToken = (token: string): void => sessionStorage.setItem(KEY, token);
export const forgetToken = (): void => sessionStorage.removeItem(KEY);

export async function openSession(token: string): Promise<{ client: HttpClient; facts: SessionFacts }> {
  const client = createHttpClient({ url: location.origin, token });
  const { body } = await client.api.ask<SessionFacts>('GET', '/v1/session');
  return { client, facts: body };
}

/** Whether the API refused the token itself. */
export const isSignedOut = (error: unknown): boolean => error instanceof SecondwindError && error.code === 'no_token';

const NAME_KEY = 'secondwind-name';
/** The name that the audit gets for what a person does here. */
export const ownName = (): string => localStorage.getItem(NAME_KEY) ?? '';
export const keepOwnName = (name: string): void => localStorage.setItem(NAME_KEY, name);
