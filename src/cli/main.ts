#!/usr/bin/env node
/** An agent runs `hook run` around each of its tool calls, so that must not wait for the whole command line to load. */
const isHookRun = (): boolean => {
  const [command, action, ...rest] = process.argv.slice(2);
  if (command !== 'hook' || rest.includes('--help')) return false;
  return action === 'run' || (action === undefined && !process.stdin.isTTY);
};

async function main(): Promise<number> {
  if (isHookRun()) {
    const { runHook } = await import('./hook/run-hook.ts');
    await runHook(process.argv.slice(4));
    return 0;
  }
  const { runProgram } = await import('./run-program.ts');
  return runProgram();
}

// Exits even if something still keeps the event loop busy.
main().then(
  (code) => process.exit(code),
  async (error: unknown) => {
    const { reportError } = await import('./report-error.ts');
    process.exit(reportError(error));
  },
);
