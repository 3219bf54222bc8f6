import { createRedactor, secretsOf } from '../../core/redaction/redact.ts';
import { startTelemetry, type Telemetry } from '../../telemetry/start-telemetry.ts';

/** Starts telemetry for a short command. Problems are printed as one sentence. */
export const commandTelemetry = (): Promise<Telemetry | undefined> =>
  startTelemetry({
    redact: createRedactor(secretsOf(process.env)),
    warn: (_fields, message) => void process.stderr.write(`Telemetry: ${message}\n`),
  });
