import {
  request as overHttp,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
} from 'node:http';
import { request as overHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { ToolError } from '../tool-error.ts';
import type { Certainty } from '../../protocol/tools.ts';
import type { Address, Destination } from './destination.ts';

export interface Sent {
  method: string;
  headers: OutgoingHttpHeaders;
  body: string | Uint8Array | undefined;
}
export interface Limits {
  maxBytes: number;
  /** A longer body is cut instead of refused. */
  cut: boolean;
  /** What an answer that is too large to be read means: it was done. */
  ifTooLarge: Certainty;
  signal: AbortSignal;
}
export interface Received {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
  cut: boolean;
}

/** Of an answer that tells of a failure this much is read. */
const FAILURE_BYTES = 64 * 1024;

/**
 * One request and its answer. What goes wrong is thrown with `request_sent`: before a connection stands nothing can have
 * happened, after it nobody knows until there is an answer.
 */
export function exchange(to: Destination, sent: Sent, limits: Limits): Promise<Received> {
  return new Promise((resolve, reject) => {
    const { url } = to;
    const secure = url.protocol === 'https:';
    let connected = false;
    const request = (secure ? overHttps : overHttp)({
      host: to.host,
      port: url.port === '' ? undefined : Number(url.port),
      path: `${url.pathname}${url.search}`,
      method: sent.method,
      headers: { ...sent.headers, host: url.host },
      // A connection of its own: one that was kept may be closing just now, and then nobody knows what arrived.
      agent: false,
      lookup: answeringWith(to.addresses),
    });
    const fail = (error: Error): void => {
      limits.signal.removeEventListener('abort', stop);
      request.destroy();
      reject(Object.assign(error, { request_sent: connected }));
    };
    const stop = (): void => fail(new Error('the request was told to stop', { cause: limits.signal.reason }));
    request.once('socket', (socket) => {
      socket.once(secure ? 'secureConnect' : 'connect', () => {
        connected = true;
      });
    });
    // More than one may come, also after the answer.
    request.on('error', fail);
    const succeed = (answer: Received): void => {
      limits.signal.removeEventListener('abort', stop);
      request.destroy();
      resolve(answer);
    };
    request.once('response', (response) => void received(response, limits).then(succeed, fail));
    if (limits.signal.aborted) return stop();
    limits.signal.addEventListener('abort', stop, { once: true });
    request.end(sent.body);
  });
}

/** The one answer that was looked at, whoever asks again. */
const answeringWith =
  (addresses: Address[]): LookupFunction =>
  (_host, options, callback) => {
    const [first] = addresses;
    if (options.all === true) callback(null, addresses);
    else callback(null, first?.address ?? '', first?.family ?? 4);
  };

async function received(response: IncomingMessage, limits: Limits): Promise<Received> {
  const { statusCode: status = 0, headers } = response;
  const failed = status >= 400;
  const cap = failed ? Math.min(FAILURE_BYTES, limits.maxBytes) : limits.maxBytes;
  const mayCut = failed || limits.cut;
  if (!mayCut && Number(headers['content-length']) > cap) throw tooLarge(cap, limits.ifTooLarge);
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > cap) break;
    }
  } catch (error) {
    // The status is the answer; a failure's words that break off are no reason to doubt it.
    if (!failed) throw error;
  }
  if (bytes > cap && !mayCut) throw tooLarge(cap, limits.ifTooLarge);
  return { status, headers, body: Buffer.concat(chunks).subarray(0, cap), cut: bytes > cap };
}

const tooLarge = (maxBytes: number, certainty: Certainty): ToolError =>
  new ToolError(`the answer is larger than ${maxBytes} bytes; ask for less of it`, {
    category: 'unknown_error',
    code: 'OUTPUT_TOO_LARGE',
    certainty,
    maxBytes,
  });
