import autocannon from 'autocannon';
import type { Figures } from '../report.ts';
import type { LoadedServer } from './server.ts';

const CONNECTIONS = 50;

export interface LoadOptions {
  server: LoadedServer;
  /** Prefix of the figures' names. */
  name: string;
  seconds: number;
  request: autocannon.Request;
}

/** Fifty connections, each of which sends its next request when the last one is answered. */
export async function sendLoad({ server, name, seconds, request }: LoadOptions): Promise<Figures> {
  const result = await autocannon({
    url: server.url,
    connections: CONNECTIONS,
    duration: seconds,
    timeout: 40,
    requests: [{ ...request, headers: server.headers }],
  });
  return {
    [`${name}_requests`]: result.requests.total,
    [`${name}_per_s`]: result.requests.average,
    [`${name}_p50_ms`]: result.latency.p50,
    [`${name}_p99_ms`]: result.latency.p99,
    [`${name}_max_ms`]: result.latency.max,
    [`${name}_errors`]: result.errors + result.timeouts + result.mismatches,
    [`${name}_non_2xx`]: result.non2xx,
  };
}
