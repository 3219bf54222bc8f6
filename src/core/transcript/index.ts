/** Conversations with a model: neutral, content-addressed, and repaired at the tail without breaking a provider's rules. */
export { boundedText, encodedBytes } from './bounded-text.ts';
export { checkTranscript, type TranscriptProblem, type TranscriptRule } from './check-transcript.ts';
export {
  GUIDANCE_BYTES,
  REPAIR_OUTPUT_BYTES,
  replaceFailedTail,
  replaceInvalidOutput,
  type TailSurgery,
} from './failed-tail.ts';
export { joinNeighbours } from './join-neighbours.ts';
export {
  addressTranscript,
  messageId,
  resolveTranscript,
  type AddressedTranscript,
  type AssistantMessage,
  type Message,
  type MessageCall,
  type ResolvedTranscript,
  type SystemMessage,
  type ToolMessage,
  type UserMessage,
} from './message.ts';
export { wholeText } from './whole-text.ts';
