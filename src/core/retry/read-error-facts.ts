import { isBag, readFacts } from './error-facts.ts';
import type { Bag, ErrorFacts } from './error-facts.ts';

/**
 * How deep the chain of causes is read: an SDK's error wraps fetch's error, which wraps the socket's error. Deeper
 * causes add nothing.
 */
const MAX_DEPTH = 5;

const chainOf = (thrown: unknown): Bag[] => {
  const chain: Bag[] = [];
  let next = thrown;
  while (isBag(next) && chain.length < MAX_DEPTH) {
    chain.push(next);
    // Happy Eyeballs throws an AggregateError with one error for each address; only the first is read.
    const { cause, errors } = next;
    next = isBag(cause) ? cause : Array.isArray(errors) ? errors[0] : undefined;
  }
  return chain;
};

const first = <T>(chain: Bag[], read: (bag: Bag) => T | undefined): T | undefined => {
  for (const bag of chain) {
    const found = read(bag);
    if (found !== undefined) return found;
  }
  return undefined;
};

const statusOf = (bag: Bag): number | undefined => {
  const response = isBag(bag.response) ? bag.response : {};
  const candidates = [bag.http_status, bag.status, bag.statusCode, response.status];
  return candidates.find((value): value is number => typeof value === 'number' && value >= 100 && value <= 599);
};

const headerOf = (bag: Bag): string | undefined => {
  const response = isBag(bag.response) ? bag.response : {};
  const headers = isBag(bag.headers) ? bag.headers : response.headers;
  if (!isBag(headers)) return undefined;
  const read = headers.get;
  const value: unknown = typeof read === 'function' ? read.call(headers, 'retry-after') : headers['retry-after'];
  return typeof value === 'string' ? value : undefined;
};

const providerTypeOf = (bag: Bag): string | undefined => {
  const inner = isBag(bag.error) ? bag.error : {};
  const candidates = [bag.provider_error_type, inner.code, inner.type, bag.type, inner.status];
  return candidates.find((value): value is string => typeof value === 'string');
};

const collect = (thrown: unknown): ErrorFacts => {
  const chain = chainOf(thrown);
  const own = readFacts(thrown);
  const messages = chain.map((bag) => bag.message).filter((text) => typeof text === 'string' && text !== '');
  return readFacts({
    ...own,
    message: messages.length > 0 ? [...new Set(messages)].join(': ') : own.message,
    code: first(chain, (bag) => (typeof bag.code === 'string' ? bag.code : undefined)) ?? own.code,
    http_status: first(chain, statusOf),
    retry_after: first(chain, headerOf) ?? own.retry_after,
    provider_error_type: first(chain, providerTypeOf),
  });
};

/** Reads the facts of a thrown value and of its causes. It never throws, whatever was thrown. */
export const readErrorFacts = (thrown: unknown): ErrorFacts => {
  try {
    return collect(thrown);
  } catch {
    return readFacts(thrown);
  }
};
