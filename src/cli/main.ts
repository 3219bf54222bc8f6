#!/usr/bin/env node
import { CommanderError } from 'commander';
import { createProgram } from './program.ts';
import { EXIT, reportError } from './report-error.ts';

async function main(): Promise<number> {
  try {
    await createProgram().parseAsync();
    return Number(process.exitCode ?? EXIT.ok);
  } catch (error) {
    // Commander has already said what is wrong with the usage; help and version end here too, with 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    return reportError(error, { json: process.argv.includes('--json') });
  }
}

// Whoever reads only the beginning (`| head`) has seen enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) =>
  process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.failed),
);

// Whatever may still be open, a command that is done has ended.
main().then(
  (code) => process.exit(code),
  (error: unknown) => process.exit(reportError(error)),
);
