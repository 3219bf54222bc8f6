import type { OutgoingHttpHeaders } from 'node:http';
import { ToolError } from '../tool-error.ts';
import type { Certainty } from '../../protocol/tools.ts';
import { type Destination, destinationOf, type Rules } from './destination.ts';
import { exchange, type Limits, type Received, type Sent } from './exchange.ts';

const MOST_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** What may go along to another origin; everything else could be a credential. */
const HARMLESS = new Set(['accept', 'accept-encoding', 'accept-language', 'content-type', 'user-agent']);

export interface Answered extends Received {
  url: URL;
  host: string;
  /** A request that changes things was answered by a redirect: whatever comes after it, it may have had its effect. */
  mayHaveActed: boolean;
}

/** Sends a request and follows redirects, each looked at like the first. Never more than one request at a time. */
export async function follow(address: string, first: Sent, rules: Rules, limits: Limits): Promise<Answered> {
  let next = address;
  let sent = first;
  let mayHaveActed = false;
  for (let hop = 0; ; hop += 1) {
    // What a failure before the next request leaves means: nothing was done yet, or the answers so far are certain.
    const sofar: Certainty = mayHaveActed ? 'unknown' : hop === 0 ? 'not_started' : 'failed';
    const to = await lookedAt(next, rules, limits.signal, sofar);
    const answer = await answerOrTell(to, sent, limits, sofar);
    const { location } = answer.headers;
    if (!REDIRECTS.has(answer.status) || location === undefined) {
      return { ...answer, url: to.url, host: to.host, mayHaveActed };
    }
    const changesThings = !isRead(sent.method);
    mayHaveActed ||= changesThings && answer.status <= 303;
    if (hop === MOST_REDIRECTS) {
      const certainty = mayHaveActed ? 'unknown' : 'failed';
      const how = { category: 'invalid_input', code: 'TOO_MANY_REDIRECTS', certainty } as const;
      throw new ToolError(`more than ${MOST_REDIRECTS} redirects from ${to.host}`, how);
    }
    const target = URL.canParse(location, to.url.href) ? new URL(location, to.url) : null;
    next = target === null ? location : withoutUser(target.href);
    sent = redirected(sent, answer.status, target?.origin === to.url.origin);
  }
}

function redirected(sent: Sent, status: number, sameOrigin: boolean): Sent {
  const becomesGet = status === 303 ? sent.method !== 'HEAD' : status < 303 && sent.method === 'POST';
  const kept = Object.entries(sent.headers).filter(
    ([name]) => (sameOrigin || HARMLESS.has(name)) && !(becomesGet && name.startsWith('content-')),
  );
  const headers: OutgoingHttpHeaders = Object.fromEntries(kept);
  return becomesGet ? { method: 'GET', headers, body: undefined } : { ...sent, headers };
}

export const isRead = (method: string): boolean => method === 'GET' || method === 'HEAD';

async function answerOrTell(to: Destination, sent: Sent, limits: Limits, sofar: Certainty): Promise<Received> {
  try {
    return await exchange(to, sent, limits);
  } catch (error) {
    const left = error instanceof Error && 'request_sent' in error && error.request_sent === true;
    // An answer that is too large is an answer.
    if (error instanceof ToolError && left) throw error;
    throw withCertainty(error, left ? 'unknown' : sofar);
  }
}

/** A name server that does not answer must not hold up a run that has to stop. */
async function lookedAt(
  address: string,
  rules: Rules,
  signal: AbortSignal,
  certainty: Certainty,
): Promise<Destination> {
  const over = new AbortController();
  const stopped = new Promise<never>((_, reject) => {
    const stop = (): void => reject(new Error('the request was told to stop', { cause: signal.reason }));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true, signal: over.signal });
  });
  try {
    return await Promise.race([destinationOf(address, rules, certainty), stopped]);
  } catch (error) {
    throw error instanceof ToolError ? error : withCertainty(error, certainty);
  } finally {
    over.abort();
  }
}

const withCertainty = (error: unknown, certainty: Certainty): unknown =>
  error instanceof Error ? Object.assign(error, { certainty, request_sent: certainty !== 'not_started' }) : error;

/** A password has no place in an address that may be shown. */
export function withoutUser(address: string): string {
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  url.username = '';
  url.password = '';
  return url.href;
}
