import type { ConnectionOptions } from '@temporalio/client';
import { connectionProblem } from '../machine/ports.ts';
import { temporalUnreachable } from './namespace.ts';

const DEFAULT_PORT = 7233;
const CONNECT_LIMIT_MS = 5_000;

/**
 * Checks the connection once. gRPC would retry a refused connection for a long time, but a person wants to know at
 * once.
 */
export async function checkTemporal(address: string): Promise<void> {
  const { host, port } = parseAddress(address);
  const problem = await connectionProblem(host, port, CONNECT_LIMIT_MS);
  if (problem) throw temporalUnreachable(address, problem);
}

/** TLS, API key and headers as every Temporal tool reads them: `TEMPORAL_*` and the profile file. */
export async function externalConnection(address: string, env: NodeJS.ProcessEnv): Promise<ConnectionOptions> {
  const { loadClientConnectConfig } = await import('@temporalio/envconfig');
  const overrideEnvVars = Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
  );
  const { tls, apiKey, metadata } = loadClientConnectConfig({ overrideEnvVars }).connectionOptions;
  return {
    address,
    ...(tls !== undefined && { tls }),
    ...(apiKey !== undefined && { apiKey }),
    ...(metadata !== undefined && { metadata }),
  };
}

/** `host`, `host:port` or `[v6]:port`. */
function parseAddress(address: string): { host: string; port: number } {
  const match = /^(?:\[(?<v6>[^\]]+)\]|(?<host>[^:]*))(?::(?<port>\d+))?$/.exec(address);
  const { v6, host, port } = match?.groups ?? {};
  return { host: v6 ?? host ?? address, port: port ? Number(port) : DEFAULT_PORT };
}
