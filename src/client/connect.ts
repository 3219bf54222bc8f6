import { Client, Connection } from '@temporalio/client';
import { externalConnection } from '../stack/temporal/external.ts';
import type { Encryption } from '../encryption/encryption.ts';
import type { Telemetry } from '../telemetry/start-telemetry.ts';
import { createDataConverter } from './data-converter.ts';
import { NotReachableError } from '../protocol/errors.ts';

/** Options of `connectClient`. */
export interface ConnectOptions {
  address: string;
  namespace: string;
  connectTimeoutMs?: number;
  /** The environment to read API keys and certificates (`TEMPORAL_*`) from; `{}` for a server without them. Default: `process.env`. */
  env?: NodeJS.ProcessEnv;
  /** With it, the start of a run is traced as a span, and the spans of the run are its children. */
  telemetry?: Telemetry | undefined;
  /** Default: what `SECONDWIND_ENCRYPTION_KEYS` and `SECONDWIND_ENCRYPTION` say. */
  encryption?: Encryption | undefined;
}

/**
 * Connects to Temporal, with the data converter that Secondwind needs.
 *
 * Returns a client of `@temporalio/client`, for `createClient({ temporal, … })`. Throws `NotReachableError` if Temporal does not answer.
 */
export async function connectClient(options: ConnectOptions): Promise<Client> {
  const { address, namespace, connectTimeoutMs = 5_000, env = process.env, telemetry, encryption } = options;
  const dataConverter = createDataConverter({ encryption });
  try {
    const keys = await externalConnection(address, env);
    const connection = await Connection.connect({
      ...keys,
      connectTimeout: connectTimeoutMs,
      // One history event may have 2 MB, and the default of gRPC is 4 MB for a whole page of events.
      channelArgs: { 'grpc.max_receive_message_length': 128 * 1024 * 1024 },
    });
    const interceptors = telemetry && { interceptors: { workflow: [telemetry.clientInterceptor] } };
    return new Client({ connection, namespace, dataConverter, ...interceptors });
  } catch (error) {
    const nextStep = 'Start it (`secondwind dev`) or set TEMPORAL_ADDRESS to the address of a running server.';
    throw new NotReachableError(`Temporal at ${address}`, nextStep, error);
  }
}
