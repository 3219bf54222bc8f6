import { createHttpClient, type HttpClient, type HttpOptions } from './http/http-client.ts';
import { createTemporalClient, type TemporalClient, type TemporalOptions } from './temporal/temporal-client.ts';

/**
 * The typed client of a running API (`{ url, token }`), or one that talks to Temporal and the store itself
 * (`{ temporal, registry, store }`).
 *
 * This function is exported by `secondwind/server`. The entry `secondwind` exports the first form alone under the same name,
 * because it must not load Temporal. A dynamic import would hide the second form behind a promise and still bring Temporal into
 * every bundle; whoever has a Temporal client and a store has `secondwind/server` loaded already.
 */
export function createClient(options: HttpOptions): HttpClient;
export function createClient(options: TemporalOptions): TemporalClient;
export function createClient(options: HttpOptions | TemporalOptions): HttpClient | TemporalClient {
  return 'temporal' in options ? createTemporalClient(options) : createHttpClient(options);
}
