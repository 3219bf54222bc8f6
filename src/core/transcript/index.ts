/** Conversations with a model: neutral, content-addressed, and repaired at the tail without breaking a provider's rules. */
export { boundedText } from './bounded-text.ts';
export { checkTranscript } from './check-transcript.ts';
export { replaceFailedTail, replaceInvalidOutput } from './failed-tail.ts';
export { joinNeighbours } from './join-neighbours.ts';
export {
  addressTranscript,
  messageId,
  resolveTranscript,
  type AssistantMessage,
  type Message,
  type MessageCall,
  type ProviderState,
  type ToolMessage,
} from './message.ts';
