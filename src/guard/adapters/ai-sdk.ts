import { addGuidance, addGuidanceToError } from '../add-guidance.ts';
import type { Guard } from '../create-guard.ts';
import { GuardStopError } from '../guard-stop-error.ts';
import { guardCall } from '../wrap-function.ts';
import { type Effects, effectOf } from './effects.ts';

/** A tool of the AI SDK, as far as a guard needs to know it. */
interface AiTool {
  execute?: ((input: never, options: never) => unknown) | undefined;
}
type Condition = (options: never) => boolean | PromiseLike<boolean>;

/**
 * Guards the tools of `generateText`, `streamText` or an agent of the AI SDK. Spread the result into its options. The
 * agent ends after the step in which the guard stops it, because a condition is added to `stopWhen`.
 *
 * @example
 *   const result = await generateText({
 *     model,
 *     prompt,
 *     ...guardAiSdk(guard, { tools, stopWhen: stepCountIs(50) }),
 *   });
 */
export function guardAiSdk<Tools extends Record<string, AiTool>, Stop extends Condition = Condition>(
  guard: Guard,
  { tools, stopWhen = [], effects = {} }: { tools: Tools; stopWhen?: Stop | Stop[]; effects?: Effects },
): { tools: Tools; stopWhen: (Stop | (() => boolean))[] } {
  const guarded = Object.entries(tools).map(([tool, definition]) => [
    tool,
    definition.execute === undefined ? definition : guardTool(guard, tool, definition, effects),
  ]);
  const given = Array.isArray(stopWhen) ? stopWhen : [stopWhen];
  return { tools: Object.fromEntries(guarded) as Tools, stopWhen: [...given, () => guard.stopped !== null] };
}

function guardTool(guard: Guard, tool: string, definition: AiTool, effects: Effects): AiTool {
  const execute = async (input: never, options: never): Promise<unknown> => {
    const call = { tool, input, effect: effectOf(effects, tool) };
    try {
      return await guardCall(guard, call, () => lastOf(definition.execute?.(input, options)), tell);
    } catch (error) {
      // The condition in `stopWhen` ends the agent. The result of its last call is kept all the same.
      if (!(error instanceof GuardStopError) || error.verdict === 'deny') throw error;
      if (error.cause !== undefined) throw addGuidanceToError(error.cause, error.message);
      if (error.output === undefined) throw error;
      return tell(error.output, error.message);
    }
  };
  return { ...definition, execute };
}

/** The model sees results as JSON, so every result can carry guidance. */
const tell = (output: unknown, text: string): unknown =>
  addGuidance(output, text) ?? { result: output, guidance: text };

/** A tool may return preliminary results as an async iterable. The last one is its result. */
async function lastOf(result: unknown): Promise<unknown> {
  if (typeof result !== 'object' || result === null || !(Symbol.asyncIterator in result)) return result;
  let last: unknown;
  for await (const part of result as AsyncIterable<unknown>) last = part;
  return last;
}
