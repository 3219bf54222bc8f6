import { createHttpClient, type HttpClient, type HttpOptions } from './http/http-client.ts';
import { createTemporalClient, type TemporalClient, type TemporalOptions } from './temporal/temporal-client.ts';

/**
 * Creates the typed client, either of a running API (`{ url, token }`) or directly over Temporal and the store
 * (`{ temporal, registry, store }`). Both have the same calls, types and errors.
 *
 * `secondwind/server` exports this function. `secondwind` exports only the first form under the same name, because it must not load
 * Temporal.
 *
 * @example
 * ```ts
 * const { runs } = createClient({ url: 'http://127.0.0.1:4680', token });
 * const { run_id } = await runs.start({ agent: 'greeter', goal: 'say hello' });
 * const { outcome, result } = await runs.result(run_id);
 * ```
 */
export function createClient(options: HttpOptions): HttpClient;
export function createClient(options: TemporalOptions): TemporalClient;
export function createClient(options: HttpOptions | TemporalOptions): HttpClient | TemporalClient {
  return 'temporal' in options ? createTemporalClient(options) : createHttpClient(options);
}
