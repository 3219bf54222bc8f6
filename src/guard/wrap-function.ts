import type { ToolEffect } from '../protocol/tools.ts';
import { addGuidance, addGuidanceToError } from './add-guidance.ts';
import type { Guard } from './create-guard.ts';
import { GuardStopError } from './guard-stop-error.ts';

/**
 * Asks the guard around one call. `run` runs the tool, and `told` puts guidance into its result. `answerOf` selects the
 * part of a result that the model reads, because ids and times around it differ in every call.
 */
export async function guardCall<Output>(
  guard: Pick<Guard, 'before' | 'after'>,
  call: { tool: string; input: unknown; effect?: ToolEffect | undefined },
  run: () => Output | Promise<Output>,
  told: (output: Output, text: string) => Output,
  answerOf: (output: Output) => unknown = (output) => output,
): Promise<Output> {
  const { tool } = call;
  const before = await guard.before(call);
  if (before.verdict === 'deny' || before.verdict === 'ask') {
    throw new GuardStopError(before.text ?? '', { verdict: before.verdict, tool, loop: before.loop });
  }
  let output: Output;
  try {
    output = await run();
  } catch (error) {
    const after = await guard.after({ ...call, error: error ?? 'failed' });
    const text = joinTexts(before.text, after.text);
    if (after.verdict === 'stop' || after.verdict === 'ask') {
      throw new GuardStopError(text ?? '', { verdict: after.verdict, tool, loop: after.loop }, error);
    }
    throw text === undefined ? error : addGuidanceToError(error, text);
  }
  const after = await guard.after({ ...call, output: answerOf(output) });
  const text = joinTexts(before.text, after.text);
  if (after.verdict === 'stop' || after.verdict === 'ask') {
    throw new GuardStopError(text ?? '', { verdict: after.verdict, tool, loop: after.loop, output });
  }
  return text === undefined ? output : told(output, text);
}

const joinTexts = (one: string | undefined, other: string | undefined): string | undefined =>
  one === undefined || other === undefined || one === other ? (other ?? one) : `${one}\n${other}`;

/** See `Guard.wrap`. A result that is neither text nor an object is returned unchanged, because it cannot carry text. */
export const wrapFunction =
  <Input, Rest extends unknown[], Output>(
    guard: Guard,
    fn: (input: Input, ...rest: Rest) => Output | Promise<Output>,
    { tool, effect }: { tool: string; effect?: ToolEffect },
  ): ((input: Input, ...rest: Rest) => Promise<Output>) =>
  (input, ...rest) =>
    guardCall(
      guard,
      { tool, input, effect },
      () => fn(input, ...rest),
      (output, text) => (addGuidance(output, text) as Output | undefined) ?? output,
    );
