import { createRedactor, secretsOf } from '../../core/redaction/redact.ts';
import { startTelemetry, type Telemetry } from '../../telemetry/start-telemetry.ts';

/** The telemetry of a short command, whose reader is a person: what is wrong with it is told in a sentence. */
export const commandTelemetry = (): Promise<Telemetry | undefined> =>
  startTelemetry({
    redact: createRedactor(secretsOf(process.env)),
    warn: (_fields, message) => void process.stderr.write(`Telemetry: ${message}\n`),
  });
