import { Client, Connection } from '@temporalio/client';
import { externalConnection } from '../stack/temporal/external.ts';
import type { Telemetry } from '../telemetry/start-telemetry.ts';
import { createDataConverter } from './data-converter.ts';
import { NotReachableError } from '../protocol/errors.ts';

export interface ConnectOptions {
  address: string;
  namespace: string;
  connectTimeoutMs?: number;
  /** Where keys and certificates (`TEMPORAL_*`) are read from; `{}` for a server of our own, which has none. */
  env?: NodeJS.ProcessEnv;
  /** With it, the start of a run is a span, and the run's own spans join it. */
  telemetry?: Telemetry | undefined;
}

/** A Temporal client with our data converter. */
export async function connectClient(options: ConnectOptions): Promise<Client> {
  const { address, namespace, connectTimeoutMs = 5_000, env = process.env, telemetry } = options;
  try {
    const keys = await externalConnection(address, env);
    const connection = await Connection.connect({
      ...keys,
      connectTimeout: connectTimeoutMs,
      // An event carries up to two megabytes, and the default of gRPC holds only two such.
      channelArgs: { 'grpc.max_receive_message_length': 128 * 1024 * 1024 },
    });
    const interceptors = telemetry && { interceptors: { workflow: [telemetry.clientInterceptor] } };
    return new Client({ connection, namespace, dataConverter: createDataConverter(), ...interceptors });
  } catch (error) {
    const nextStep = 'Start it (`secondwind dev`) or set TEMPORAL_ADDRESS to one that runs.';
    throw new NotReachableError(`Temporal at ${address}`, nextStep, error);
  }
}
