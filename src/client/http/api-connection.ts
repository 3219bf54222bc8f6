import { NotReachableError, SecondwindError } from '../../protocol/errors.ts';
import { toError, type ProblemSubject } from './problem-errors.ts';

/** Options of `createClient` for a running API. */
export interface HttpOptions {
  /** The address of the API, such as `http://127.0.0.1:4680`. */
  url: string;
  token: string;
  /** The longest that a call may take; it then throws `NotReachableError`. Default: 60 s. `watch` has no limit. */
  timeoutMs?: number;
  /** Returns additional headers for each request, such as `traceparent`. */
  headers?: () => Record<string, string>;
}

/** Options of one request. */
export interface RequestOptions {
  query?: Record<string, string | number | undefined>;
  body?: unknown;
  idempotencyKey?: string | undefined;
  signal?: AbortSignal | undefined;
  /** The run or loop of the call, for its error messages. */
  about?: ProblemSubject;
}
export interface Answered<T> {
  status: number;
  body: T;
}

/** Sends every request to one API with one token. */
export interface ApiConnection {
  url: string;
  ask<T>(method: 'GET' | 'POST' | 'PUT', path: string, options?: RequestOptions): Promise<Answered<T>>;
  /** Opens a stream and returns once its headers have arrived; `null` if the stream has nothing more to send. */
  open(path: string, headers: Record<string, string>, options: RequestOptions): Promise<Response | null>;
}

/** Longer than any answer of the API takes: a cancel waits up to 40 s. */
const TIMEOUT_MS = 60_000;

export function connectApi({ url, token, timeoutMs = TIMEOUT_MS, headers: more }: HttpOptions): ApiConnection {
  const base = checkUrl(url);
  const send = async (method: string, path: string, options: RequestOptions, headers: Record<string, string>) => {
    const { query = {}, body, signal } = options;
    const address = new URL(`${base}${path}`);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) address.searchParams.set(name, String(value));
    }
    signal?.throwIfAborted();
    try {
      return await fetch(address, {
        method,
        headers: {
          ...more?.(),
          authorization: `Bearer ${token}`,
          ...headers,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...(signal ? { signal } : {}),
        // A redirect would send the token to another server.
        redirect: 'error',
      });
    } catch (error) {
      throw noAnswer(base, error, signal);
    }
  };
  return {
    url: base,
    ask: (async (method, path, options = {}) => {
      const limit = AbortSignal.timeout(timeoutMs);
      const signal = options.signal ? AbortSignal.any([options.signal, limit]) : limit;
      const key: Record<string, string> =
        options.idempotencyKey === undefined ? {} : { 'idempotency-key': options.idempotencyKey };
      try {
        const response = await send(method, path, { ...options, signal }, key);
        const body = await readBody(base, response);
        if (response.ok) return { status: response.status, body };
        throw toError(response.status, body, options.about);
      } catch (error) {
        options.signal?.throwIfAborted();
        if (limit.aborted) throw timedOut(base, timeoutMs, error);
        throw error instanceof SecondwindError ? error : noAnswer(base, error, signal);
      }
    }) as ApiConnection['ask'],
    open: async (path, headers, options) => {
      const response = await send('GET', path, options, { accept: 'text/event-stream', ...headers });
      if (response.status === 204) return null;
      if (response.ok && response.headers.get('content-type')?.startsWith('text/event-stream')) return response;
      const body = await readBody(base, response);
      throw response.ok ? anotherProgram(base) : toError(response.status, body, options.about);
    },
  };
}

function checkUrl(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  const usable = parsed !== null && /^https?:$/.test(parsed.protocol) && parsed.username === '';
  if (usable) return `${parsed.origin}${parsed.pathname.replace(/\/+$/, '')}`;
  throw new SecondwindError(
    'bad_setting',
    'The address of the API is not an http or https URL.',
    'Use an address such as http://127.0.0.1:4680, without the token.',
  );
}

async function readBody(base: string, response: Response): Promise<unknown> {
  const type = response.headers.get('content-type') ?? '';
  if (!/^application\/(?:problem\+)?json/.test(type)) {
    await response.body?.cancel();
    throw anotherProgram(base);
  }
  return response.json();
}

const START_IT = 'Start it (`secondwind dev`), or give the address of a running one (--url on the command line).';

function noAnswer(base: string, error: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return signal.reason;
  return new NotReachableError(`The API at ${base}`, START_IT, error);
}

const timedOut = (base: string, ms: number, cause: unknown): Error =>
  new NotReachableError(
    `An answer of the API at ${base} within ${ms / 1000} s`,
    'Check whether the request took effect before you send it again. GET /readyz shows what is not ready.',
    cause,
  );

const anotherProgram = (base: string): Error =>
  new NotReachableError(`A Secondwind API at ${base}`, `Another program answers there. ${START_IT}`);
