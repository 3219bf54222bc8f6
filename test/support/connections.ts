/**
 * The connections to Temporal that all worlds of a test process share. They stay open until the process ends: the SDK
 * retries a call that was in flight when its connection was closed, and that error would appear in the next test file.
 */
import { NativeConnection } from '@temporalio/worker';
import { inject } from 'vitest';
import { connectClient } from '../../src/client/connect.ts';
import './provided.ts';
import './quiet-runtime.ts';

type Client = Awaited<ReturnType<typeof connectClient>>;

let native: Promise<NativeConnection> | undefined;
let client: Promise<Client> | undefined;

/** For workers. */
export function nativeConnection(): Promise<NativeConnection> {
  native ??= NativeConnection.connect({ address: inject('temporalAddress') });
  return native;
}

export function temporalClient(): Promise<Client> {
  client ??= connectClient({ address: inject('temporalAddress'), namespace: inject('namespace') });
  return client;
}
