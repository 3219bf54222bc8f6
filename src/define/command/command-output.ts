import { z } from 'zod';
import { salientOutput } from '../../core/failures/salient-output.ts';
import { CAP } from '../../protocol/caps.ts';
import { defined } from '../../protocol/json.ts';
import type { ToolContext } from '../define-tool.ts';
import { ToolError } from '../tool-error.ts';
import type { ToolEffect } from '../../protocol/tools.ts';
import type { ProcessEnd } from './run-process.ts';

/** The output of a `commandTool` that declares none. */
export const commandOutputSchema = z.object({
  exit_code: z.int(),
  /** The failing lines and the end of the output. Set if the code is an accepted one other than 0 and the output is long. */
  salient: z.string().optional(),
  stdout: z.string(),
  stderr: z.string(),
  /** True if the middle of a stream was left out because it was too long. */
  truncated: z.boolean(),
  /** The size of the stream before anything was left out. */
  stdout_bytes: z.int(),
  stderr_bytes: z.int(),
});
/** The output of a `commandTool` that declares none. */
export type CommandOutput = z.infer<typeof commandOutputSchema>;

/** Returns the output of a command that succeeded: the JSON that it printed, or exit code, stdout and stderr. */
export async function readCommandOutput(
  end: ProcessEnd,
  context: ToolContext,
  how: { json: boolean; effect: ToolEffect; maxOutputBytes: number },
): Promise<unknown> {
  const { stdout, stderr } = end;
  if (how.json) return parseStdout(end, how);
  // Output that is not valid UTF-8 is stored as bytes too, because its text is incomplete.
  if (!stdout.isText) await context.keep('stdout', stdout.raw());
  if (!stderr.isText) await context.keep('stderr', stderr.raw());
  const output: CommandOutput = {
    exit_code: end.exit_code ?? 0,
    ...defined({ salient: salientPart(end) }),
    stdout: stdout.text(),
    stderr: stderr.text(),
    truncated: stdout.leftOut + stderr.leftOut > 0,
    stdout_bytes: stdout.bytes,
    stderr_bytes: stderr.bytes,
  };
  return output;
}

/** The middle of a long output is cut for a model, so what it says about failures is repeated in short. */
function salientPart({ exit_code, stdout, stderr }: ProcessEnd): string | undefined {
  if (exit_code === 0 || stdout.bytes + stderr.bytes <= CAP.failedOutputBytes) return undefined;
  return salientOutput({ stdout: stdout.text(), stderr: stderr.text() });
}

function parseStdout({ stdout }: ProcessEnd, how: { effect: ToolEffect; maxOutputBytes: number }): unknown {
  // It ended with success, so a side effect is done: running it again for the sake of its answer would do it twice.
  const certainty = how.effect === 'side_effect' ? 'done' : 'failed';
  if (stdout.leftOut > 0) {
    throw new ToolError(`the command printed more than ${how.maxOutputBytes} bytes; make it print less`, {
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
