import { addGuidance } from '../add-guidance.ts';
import type { Guard } from '../create-guard.ts';
import { guardCall } from '../wrap-function.ts';
import { type Effects, effectOf } from './effects.ts';

/** A tool of the OpenAI Agents SDK. Only function tools run in this process, so only they are guarded. */
interface AgentsTool {
  type: string;
  name: string;
  invoke?: unknown;
}
type Invoke = (context: never, input: string, details: never) => Promise<unknown>;

/**
 * Guards the function tools of an agent of the OpenAI Agents SDK. When the guard stops the agent, `run` rejects with the
 * SDK's `ToolCallError`, whose `error` is a `GuardStopError`.
 *
 * Give your tools an `errorFunction` that names the error. By default the SDK answers every error with the same sentence,
 * and then neither the model nor the guard can tell two errors apart.
 *
 * @example
 *   const agent = new Agent({ name: 'coder', tools: guardOpenAiAgents(guard, [readFile, runTests]) });
 */
export function guardOpenAiAgents<Tool extends AgentsTool>(
  guard: Guard,
  tools: readonly Tool[],
  effects: Effects = {},
): Tool[] {
  return tools.map((definition) => {
    if (definition.type !== 'function' || typeof definition.invoke !== 'function') return definition;
    const tool = definition.name;
    const run = definition.invoke as Invoke;
    const invoke: Invoke = (context, input, details) =>
      guardCall(
        guard,
        { tool, input: parse(input), effect: effectOf(effects, tool) },
        // The SDK turns an error of the tool into a text inside `invoke`. The guard recognizes it by its words.
        () => run(context, input, details),
        (output, text) => addGuidance(output, text) ?? { result: output, guidance: text },
      );
    return { ...definition, invoke };
  });
}

function parse(input: string): unknown {
  try {
    return JSON.parse(input);
  } catch {
    return input;
  }
}
