import { GUARD_SCHEMAS } from './guard.ts';
import { GUARD_CALL_SCHEMAS } from './guard-calls.ts';
import { SERVICE_SCHEMAS } from './service.ts';
import { MESSAGE_SCHEMAS } from './messages.ts';
import { MEMORY_SCHEMAS } from './memory.ts';
import { METRICS_SCHEMAS } from './metrics.ts';
import { RUN_SCHEMAS } from './run.ts';

/** Every schema of /openapi.json by its name there. */
export const SCHEMAS = {
  ...RUN_SCHEMAS,
  ...MESSAGE_SCHEMAS,
  ...GUARD_SCHEMAS,
  ...GUARD_CALL_SCHEMAS,
  ...MEMORY_SCHEMAS,
  ...METRICS_SCHEMAS,
  ...SERVICE_SCHEMAS,
} as const;
export type SchemaName = keyof typeof SCHEMAS;
