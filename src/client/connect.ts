import { Client, Connection, type ConnectionOptions } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { createDataConverter } from '../worker/data-converter.ts';
import { NotReachableError } from './errors.ts';

export interface ConnectOptions {
  address: string;
  namespace: string;
  connectTimeoutMs?: number;
}

/** A Temporal client with our data converter; keys and certificates come from the `TEMPORAL_*` family. */
export async function connectClient({ address, namespace, connectTimeoutMs = 5_000 }: ConnectOptions): Promise<Client> {
  const { address: _ours, ...fromEnvironment }: ConnectionOptions = loadClientConnectConfig().connectionOptions;
  try {
    const connection = await Connection.connect({ ...fromEnvironment, address, connectTimeout: connectTimeoutMs });
    return new Client({ connection, namespace, dataConverter: createDataConverter() });
  } catch (error) {
    const nextStep = 'Start it (`secondwind dev`) or set TEMPORAL_ADDRESS to one that runs.';
    throw new NotReachableError(`Temporal at ${address}`, nextStep, error);
  }
}
