import type { GroupOptions } from './process-group.ts';
import { ProcessGroup, settlesWithin } from './process-group.ts';

export interface CommandResult {
  ok: boolean;
  /** The last part of stdout and stderr together. */
  output: string;
}

export interface RunCommandOptions extends Omit<GroupOptions, 'stdio'> {
  timeoutMs?: number;
}

const KEPT_OUTPUT_CHARS = 8_000;

/**
 * Runs a program to its end. It never throws: if the program cannot be started, fails or takes too long, `ok` is false.
 */
export async function runCommand(
  command: string,
  args: readonly string[],
  { timeoutMs = 60_000, ...options }: RunCommandOptions = {},
): Promise<CommandResult> {
  let output = '';
  try {
    const group = await ProcessGroup.start(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    const keep = (chunk: Buffer): void => {
      output = (output + chunk.toString()).slice(-KEPT_OUTPUT_CHARS);
    };
    group.child.stdout?.on('data', keep);
    group.child.stderr?.on('data', keep);
    const closed = new Promise((resolve) => group.child.once('close', resolve));
    const inTime = await settlesWithin(closed, timeoutMs);
    group.kill();
    const { code } = await group.exited;
    return inTime
      ? { ok: code === 0, output: output.trim() }
      : { ok: false, output: `${output.trim()} (no end after ${timeoutMs / 1000} s)`.trim() };
  } catch (error) {
    return { ok: false, output: error instanceof Error ? error.message : String(error) };
  }
}
