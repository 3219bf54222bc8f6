import { isRecord } from '../../protocol/json.ts';
import { addGuidance, messageOf } from '../add-guidance.ts';
import type { Guard } from '../create-guard.ts';
import { GuardStopError } from '../guard-stop-error.ts';
import { guardCall } from '../wrap-function.ts';
import { type Effects, effectOf } from './effects.ts';

/** A tool of LangChain, as far as a guard needs to know it. */
interface LangChainTool {
  name: string;
  // The overloads of LangChain's `invoke` fit no narrower type.
  invoke: (input: never, config?: never) => Promise<unknown>;
}

/**
 * Guards tools of LangChain for an agent of LangGraph. An error of a tool becomes a text for the model, with guidance at
 * its end. When the guard stops the agent, `invoke` throws a `GuardStopError`; give the tools to a `ToolNode` with
 * `handleToolErrors: false`, so that it ends the graph.
 *
 * @example
 *   const tools = new ToolNode(guardLangChain(guard, [readFile]), { handleToolErrors: false });
 *   const agent = createReactAgent({ llm, tools });
 */
export function guardLangChain<Tool extends LangChainTool>(
  guard: Guard,
  tools: readonly Tool[],
  effects: Effects = {},
): Tool[] {
  return tools.map((definition) => {
    const tool = definition.name;
    const invoke = async (input: never, config?: never): Promise<unknown> => {
      const call = { tool, input: argumentsOf(input), effect: effectOf(effects, tool) };
      try {
        return await guardCall(guard, call, () => definition.invoke(input, config), tell, contentOf);
      } catch (error) {
        if (error instanceof GuardStopError || isBubbling(error)) throw error;
        return `Error: ${messageOf(error)}`;
      }
    };
    // The tool keeps its class and everything else that it has.
    return Object.defineProperty(Object.create(definition) as Tool, 'invoke', { value: invoke });
  });
}

/** A `ToolNode` calls a tool with the whole tool call; others call it with the arguments only. */
const argumentsOf = (input: unknown): unknown =>
  isRecord(input) && input['type'] === 'tool_call' && 'args' in input ? input['args'] : input;

/** A tool message has an id beside its content. */
const contentOf = (output: unknown): unknown =>
  isRecord(output) && 'content' in output && 'tool_call_id' in output ? output['content'] : output;

/** LangGraph ends or interrupts a graph by errors of these names, which are not failures of a tool. */
const isBubbling = (error: unknown): boolean =>
  error instanceof Error && ['GraphInterrupt', 'NodeInterrupt', 'ParentCommand', 'GraphBubbleUp'].includes(error.name);

/** Puts guidance at the end of the content of a tool message, or of a plain result. */
function tell(output: unknown, text: string): unknown {
  if (isRecord(output) && typeof output['content'] === 'string') {
    // A message is an object of a class, so it is copied with its class.
    return Object.assign(Object.create(Object.getPrototypeOf(output) as object) as object, output, {
      content: `${output['content']}\n\n${text}`,
    });
  }
  return addGuidance(output, text) ?? JSON.stringify({ result: output, guidance: text });
}
