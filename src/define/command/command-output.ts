import { z } from 'zod';
import type { ToolContext } from '../define-tool.ts';
import { ToolError } from '../tool-error.ts';
import type { ToolEffect } from '../../protocol/tools.ts';
import type { ProcessEnd } from './run-process.ts';

export const commandOutputSchema = z.object({
  exit_code: z.int(),
  stdout: z.string(),
  stderr: z.string(),
  /** Something was left out of the middle of a stream. */
  truncated: z.boolean(),
  /** All that came, before anything was left out. */
  stdout_bytes: z.int(),
  stderr_bytes: z.int(),
});
export type CommandOutput = z.infer<typeof commandOutputSchema>;

/** What a command that succeeded answers with: its words, or the JSON that it printed. */
export async function answerOf(
  end: ProcessEnd,
  context: ToolContext,
  how: { json: boolean; effect: ToolEffect; maxOutputBytes: number },
): Promise<unknown> {
  const { stdout, stderr } = end;
  if (how.json) return parsed(end, how);
  // Text cannot say everything that bytes can; what it cannot say is kept as it came.
  if (!stdout.isText) await context.keep('stdout', stdout.raw());
  if (!stderr.isText) await context.keep('stderr', stderr.raw());
  const output: CommandOutput = {
    exit_code: end.exit_code ?? 0,
    stdout: stdout.text(),
    stderr: stderr.text(),
    truncated: stdout.leftOut + stderr.leftOut > 0,
    stdout_bytes: stdout.bytes,
    stderr_bytes: stderr.bytes,
  };
  return output;
}

function parsed({ stdout }: ProcessEnd, how: { effect: ToolEffect; maxOutputBytes: number }): unknown {
  // It ran to its end: doing a side effect again for the sake of its answer would do it twice.
  const certainty = how.effect === 'side_effect' ? 'unknown' : 'failed';
  if (stdout.leftOut > 0) {
    throw new ToolError(`the command printed more than ${how.maxOutputBytes} bytes; ask for less of it`, {
      category: 'unknown_error',
      code: 'OUTPUT_TOO_LARGE',
      certainty,
      maxBytes: how.maxOutputBytes,
    });
  }
  const text = stdout.text();
  try {
    return JSON.parse(text);
  } catch {
    const reason = { category: 'contract_violation', code: 'STDOUT_NOT_JSON', certainty, said: text } as const;
    throw new ToolError('the command did not print JSON', reason);
  }
}
