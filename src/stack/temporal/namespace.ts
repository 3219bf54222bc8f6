import type { Connection as TemporalConnection, ConnectionOptions } from '@temporalio/client';
import { StackError, messageOf } from '../stack-error.ts';
import type { SearchAttributeTypes } from '../types.ts';

const RETENTION_MS = 90 * 24 * 60 * 60 * 1000;
/**
 * Our own server already listens, but may be slow on a busy machine. An external server answers quickly or not at all.
 */
const CONNECT_LIMIT_MS = { owned: 30_000, external: 5_000 };

/** Numbers of temporal.api.enums.v1.IndexedValueType. */
const VALUE_TYPES = { Keyword: 2, Int: 3, KeywordList: 7 } as const;
const NOT_FOUND = 5;

export interface NamespaceOptions {
  connection: ConnectionOptions;
  namespace: string;
  searchAttributes: SearchAttributeTypes;
  /** True if we started the server. The retention of an external server is not changed. */
  owned: boolean;
}

/** Waits until Temporal answers, and prepares the namespace for runs. */
export async function prepareNamespace(options: NamespaceOptions): Promise<{ searchAttributes: boolean }> {
  // Loaded here, so that importing only the types of a stack does not load gRPC, which takes half a second.
  const { Connection } = await import('@temporalio/client');
  const { namespace, owned } = options;
  const connectTimeout = CONNECT_LIMIT_MS[owned ? 'owned' : 'external'];
  const connection = await Connection.connect({ connectTimeout, ...options.connection }).catch((error: unknown) => {
    throw temporalUnreachable(options.connection.address, error);
  });
  try {
    const service = connection.workflowService;
    const description = await service.describeNamespace({ namespace }).catch((error: unknown) => {
      throw grpcCode(error) === NOT_FOUND
        ? noNamespace(namespace)
        : temporalUnreachable(options.connection.address, error);
    });
    const retention = Number(description.config?.workflowExecutionRetentionTtl?.seconds ?? 0) * 1000;
    if (owned && retention < RETENTION_MS) {
      const { msToTs } = await import('@temporalio/common/lib/time.js');
      const config = { workflowExecutionRetentionTtl: msToTs(RETENTION_MS) };
      await service.updateNamespace({ namespace, config });
    }
    return { searchAttributes: await registerSearchAttributes(connection.operatorService, options) };
  } finally {
    await connection.close();
  }
}

/** Registers our search attributes. Without permission to do so, runs still work, but cannot be filtered in lists. */
async function registerSearchAttributes(
  operator: TemporalConnection['operatorService'],
  { namespace, searchAttributes }: NamespaceOptions,
): Promise<boolean> {
  try {
    const { customAttributes } = await operator.listSearchAttributes({ namespace });
    const known = new Map<string, number>(Object.entries(customAttributes ?? {}));
    const missing = Object.entries(searchAttributes).filter(([name]) => !known.has(name));
    // The name is taken by an attribute of another type. Writing to it would fail every run.
    const clash = Object.entries(searchAttributes).some(
      ([name, type]) => (known.get(name) ?? VALUE_TYPES[type]) !== VALUE_TYPES[type],
    );
    if (missing.length > 0) {
      await operator.addSearchAttributes({
        namespace,
        searchAttributes: Object.fromEntries(missing.map(([name, type]) => [name, VALUE_TYPES[type]])),
      });
    }
    return !clash;
  } catch {
    return false;
  }
}

export function temporalUnreachable(address: string | undefined, cause: unknown): StackError {
  return new StackError(
    'temporal_unreachable',
    `Temporal at ${address} does not answer (${messageOf(cause)}).`,
    'Start it, or correct TEMPORAL_ADDRESS, or unset it to have a dev server started.',
    { exitCode: 3, cause },
  );
}

function noNamespace(namespace: string): StackError {
  return new StackError(
    'temporal_namespace_missing',
    `Temporal has no namespace "${namespace}".`,
    `Create it (temporal operator namespace create -n ${namespace}), or correct TEMPORAL_NAMESPACE.`,
  );
}

function grpcCode(error: unknown): number | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'number' ? error.code : undefined;
}
