import type { OutgoingHttpHeaders } from 'node:http';
import { ToolError } from '../tool-error.ts';
import type { Certainty } from '../../protocol/tools.ts';
import { type Destination, resolveDestination, type Rules } from './destination.ts';
import { exchange, type Limits, type Received, type Sent } from './exchange.ts';

const MOST_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** The headers that are sent on to another origin. Any other header could be a credential. */
const SAFE_HEADERS = new Set(['accept', 'accept-encoding', 'accept-language', 'content-type', 'user-agent']);

export interface HttpAnswer extends Received {
  url: URL;
  host: string;
  /** True if a request that is not a read was answered with a redirect, since it may have had its effect before that. */
  mayHaveActed: boolean;
}

/** Sends a request and follows redirects. Every redirect is checked like the first URL. */
export async function followRedirects(address: string, first: Sent, rules: Rules, limits: Limits): Promise<HttpAnswer> {
  let next = address;
  let sent = first;
  let mayHaveActed = false;
  for (let hop = 0; ; hop += 1) {
    // If the next request cannot be sent, this is what is known about the effects of the requests before it.
    const certaintySoFar: Certainty = mayHaveActed ? 'unknown' : hop === 0 ? 'not_started' : 'failed';
    const to = await resolveOrStop(next, rules, limits.signal, certaintySoFar);
    const answer = await sendRequest(to, sent, limits, certaintySoFar);
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
    ([name]) => (sameOrigin || SAFE_HEADERS.has(name)) && !(becomesGet && name.startsWith('content-')),
  );
  const headers: OutgoingHttpHeaders = Object.fromEntries(kept);
  return becomesGet ? { method: 'GET', headers, body: undefined } : { ...sent, headers };
}

export const isRead = (method: string): boolean => method === 'GET' || method === 'HEAD';

async function sendRequest(to: Destination, sent: Sent, limits: Limits, certaintySoFar: Certainty): Promise<Received> {
  try {
    return await exchange(to, sent, limits);
  } catch (error) {
    const left = error instanceof Error && 'request_sent' in error && error.request_sent === true;
    // An answer that is too large carries its own certainty.
    if (error instanceof ToolError && left) throw error;
    throw withCertainty(error, left ? 'unknown' : certaintySoFar);
  }
}

/** Stops waiting when the signal aborts, because a DNS lookup cannot be aborted. */
async function resolveOrStop(
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
    return await Promise.race([resolveDestination(address, rules, certainty), stopped]);
  } catch (error) {
    throw error instanceof ToolError ? error : withCertainty(error, certainty);
  } finally {
    over.abort();
  }
}

const withCertainty = (error: unknown, certainty: Certainty): unknown =>
  error instanceof Error ? Object.assign(error, { certainty, request_sent: certainty !== 'not_started' }) : error;

/** Removes user and password from a URL, because the URL appears in outputs and messages. */
export function withoutUser(address: string): string {
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  url.username = '';
  url.password = '';
  return url.href;
}
