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
  /** True to cut a body that is too long, instead of failing. */
  cut: boolean;
  /** The certainty of the failure when the answer is too large: the server has done its work by then. */
  ifTooLarge: Certainty;
  signal: AbortSignal;
  /** Called right before the request leaves. If it throws, nothing is sent. */
  beforeSending(): void;
}
export interface Received {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
  cut: boolean;
}

/** The most bytes that are read of an answer with an error status. */
const FAILURE_BYTES = 64 * 1024;

/**
 * Sends one request and returns the answer. Errors carry `request_sent`: without a connection nothing can have happened; with one,
 * the effect is unknown until there is an answer.
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
      // Every request opens its own connection. If a reused one was just closing, nobody could know whether the request arrived.
      agent: false,
      lookup: answerLookupWith(to.addresses),
    });
    const fail = (error: Error): void => {
      limits.signal.removeEventListener('abort', stop);
      request.destroy();
      reject(Object.assign(error, { request_sent: connected }));
    };
    const stop = (): void => fail(new Error('the request was told to stop', { cause: limits.signal.reason }));
    request.once('socket', (socket) => {
      socket.once(secure ? 'secureConnect' : 'connect', () => {
        // The request is held back until there is a connection, so that this check is the last thing before it leaves.
        try {
          limits.beforeSending();
        } catch (error) {
          return fail(error instanceof Error ? error : new Error(String(error)));
        }
        connected = true;
        request.end(sent.body);
      });
    });
    // The request can emit several errors, also after the answer.
    request.on('error', fail);
    const succeed = (answer: Received): void => {
      limits.signal.removeEventListener('abort', stop);
      request.destroy();
      resolve(answer);
    };
    request.once('response', (response) => void readAnswer(response, limits).then(succeed, fail));
    if (limits.signal.aborted) return stop();
    limits.signal.addEventListener('abort', stop, { once: true });
  });
}

/** Answers every DNS lookup of the request with the addresses that were checked. */
const answerLookupWith =
  (addresses: Address[]): LookupFunction =>
  (_host, options, callback) => {
    const [first] = addresses;
    if (options.all === true) callback(null, addresses);
    else callback(null, first?.address ?? '', first?.family ?? 4);
  };

async function readAnswer(response: IncomingMessage, limits: Limits): Promise<Received> {
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
    // The status already says that the request failed, so an incomplete body does not matter.
    if (!failed) throw error;
  }
  if (bytes > cap && !mayCut) throw tooLarge(cap, limits.ifTooLarge);
  return { status, headers, body: Buffer.concat(chunks).subarray(0, cap), cut: bytes > cap };
}

const tooLarge = (maxBytes: number, certainty: Certainty): ToolError =>
  new ToolError(`the answer is larger than ${maxBytes} bytes; request less data`, {
    category: 'unknown_error',
    code: 'OUTPUT_TOO_LARGE',
    certainty,
    maxBytes,
  });
