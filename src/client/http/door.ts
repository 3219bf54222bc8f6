import { NotReachableError, SecondwindError } from '../../protocol/errors.ts';
import { errorOfProblem, type ProblemOf } from './problems.ts';

export interface HttpOptions {
  /** Where the API listens: `http://127.0.0.1:4680`. */
  url: string;
  token: string;
  /** How long a call may take before it counts as not answered. Default 60 s; a watch has no such limit. */
  timeoutMs?: number;
  /** More headers for every request, as they are at that moment: `traceparent`, for example. */
  headers?: () => Record<string, string>;
}

export interface AskOptions {
  query?: Record<string, string | number | undefined>;
  body?: unknown;
  idempotencyKey?: string | undefined;
  signal?: AbortSignal | undefined;
  /** What the call was about, so that its errors can name it. */
  about?: ProblemOf;
}
export interface Answered<T> {
  status: number;
  body: T;
}

/** One API, one token. Everything that is asked over HTTP goes through here. */
export interface Door {
  url: string;
  ask<T>(method: 'GET' | 'POST', path: string, options?: AskOptions): Promise<Answered<T>>;
  /** A stream's response, with its headers only; `null` when there is nothing more to come. */
  open(path: string, headers: Record<string, string>, options: AskOptions): Promise<Response | null>;
}

/** Longer than the longest that the API takes for any answer (a cancel waits up to 40 s). */
const TIMEOUT_MS = 60_000;

export function openDoor({ url, token, timeoutMs = TIMEOUT_MS, headers: more }: HttpOptions): Door {
  const base = baseOf(url);
  const send = async (method: string, path: string, options: AskOptions, headers: Record<string, string>) => {
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
        // A token goes where it was meant to go, and nowhere else.
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
        const body = await bodyOf(base, response);
        if (response.ok) return { status: response.status, body };
        throw errorOfProblem(response.status, body, options.about);
      } catch (error) {
        options.signal?.throwIfAborted();
        if (limit.aborted) throw tooSlow(base, timeoutMs, error);
        throw error instanceof SecondwindError ? error : noAnswer(base, error, signal);
      }
    }) as Door['ask'],
    open: async (path, headers, options) => {
      const response = await send('GET', path, options, { accept: 'text/event-stream', ...headers });
      if (response.status === 204) return null;
      if (response.ok && response.headers.get('content-type')?.startsWith('text/event-stream')) return response;
      const body = await bodyOf(base, response);
      throw response.ok ? notOurs(base) : errorOfProblem(response.status, body, options.about);
    },
  };
}

function baseOf(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  const usable = parsed !== null && /^https?:$/.test(parsed.protocol) && parsed.username === '';
  if (usable) return `${parsed.origin}${parsed.pathname.replace(/\/+$/, '')}`;
  throw new SecondwindError(
    'bad_setting',
    'The address of the API is no http or https address.',
    'It looks like http://127.0.0.1:4680; the token does not belong into it.',
  );
}

async function bodyOf(base: string, response: Response): Promise<unknown> {
  const type = response.headers.get('content-type') ?? '';
  if (!/^application\/(?:problem\+)?json/.test(type)) {
    await response.body?.cancel();
    throw notOurs(base);
  }
  return response.json();
}

const START_IT = 'Start it (`secondwind dev`), or name the one that runs (--url on the command line).';

function noAnswer(base: string, error: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return signal.reason;
  return new NotReachableError(`The API at ${base}`, START_IT, error);
}

const tooSlow = (base: string, ms: number, cause: unknown): Error =>
  new NotReachableError(
    `An answer of the API at ${base} within ${ms / 1000} s`,
    'Look whether what you asked for happened before you ask again; GET /readyz tells what is missing.',
    cause,
  );

const notOurs = (base: string): Error =>
  new NotReachableError(`A Secondwind API at ${base}`, `Another program answers there. ${START_IT}`);
