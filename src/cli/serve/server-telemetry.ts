import { createRedactor, secretsOf } from '../../core/redaction/redact.ts';
import { startTelemetry, type Telemetry } from '../../telemetry/start-telemetry.ts';
import type { CommandLog } from './log.ts';
import type { Parts } from './parts.ts';

/** Starts telemetry for a long command. Its log lines contain the span ids, and remaining spans are sent at the end. */
export async function addTelemetry(
  parts: Parts,
  log: CommandLog,
  secrets: readonly string[] = [],
): Promise<Telemetry | undefined> {
  const redact = createRedactor([...secretsOf(process.env), ...secrets]);
  const telemetry = await startTelemetry({ redact, warn: (fields, message) => log.warn(fields, message) });
  if (telemetry === undefined) return undefined;
  log.addFields(() => telemetry.logFields());
  parts.add('telemetry', () => telemetry.shutdown());
  return telemetry;
}
