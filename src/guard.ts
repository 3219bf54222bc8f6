/**
 * `secondwind/guard`: guards the tool calls of an agent that you already have, in your process. It loads neither Temporal
 * nor a database driver, and makes no network call unless a server is named.
 */
export { createGuard, type Guard, type GuardOptions, type SavedGuard } from './guard/create-guard.ts';
export { guardAiSdk } from './guard/adapters/ai-sdk.ts';
export type { Effects } from './guard/adapters/effects.ts';
export { guardLangChain } from './guard/adapters/langchain.ts';
export { guardOpenAiAgents } from './guard/adapters/openai-agents.ts';
export { GuardStopError } from './guard/guard-stop-error.ts';
export type { GuardServer } from './guard/server-memory.ts';
export type { AfterDecision, AnsweredCall, BeforeDecision, GuardedCall } from './core/guard/decide.ts';
export type { GuardReport } from './core/guard/guard-state.ts';
export type { InspectedFailure } from './core/inspect/inspected-failure.ts';
export type { InspectedLoop } from './core/inspect/inspected-loop.ts';
export type { PolicyPatch } from './protocol/schemas/policy.ts';
export type { ToolEffect } from './protocol/tools.ts';
