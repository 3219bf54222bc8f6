/**
 * `secondwind`: defines agents and tools, and talks to a running API. It loads neither Temporal nor a database driver, so it is
 * light enough for every process that only needs these.
 */
export {
  createHttpClient as createClient,
  type HttpClient,
  type HttpOptions as ClientOptions,
} from './client/http/http-client.ts';
export { GuardRefusedError } from './client/guard-errors.ts';
export * from './protocol/errors.ts';
export type { RunEvent } from './client/history/run-event.ts';
export type { ModelDelta } from './protocol/model-delta.ts';
export type * from './client/secondwind-client.ts';
export type * from './client/views.ts';
export type * from './client/monitor-views.ts';
export { boundSentence } from './core/bound/sentence.ts';
export { computeBound } from './core/bound/compute-bound.ts';
export * as feedback from './core/feedback/index.ts';
export * as failures from './core/failures/index.ts';
export * as guardrails from './core/guardrails/index.ts';
export * as reflections from './core/lessons/index.ts';
export * as retry from './core/retry/index.ts';
export { mergePolicy } from './core/policy/merge-policy.ts';
export {
  defineAgent,
  type Agent,
  type AgentDefinition,
  type Choice,
  type Planner,
  type ReviewContext,
  type Reviewer,
  type ReviewOf,
} from './define/define-agent.ts';
export { agentTool, type AgentToolOptions } from './define/agent-tool.ts';
export type { LoopMaterial, LoopReviewContext, LoopReviewer } from './define/loop-reviewer.ts';
export {
  defineTool,
  type DeclaredRefs,
  type Tool,
  type ToolContext,
  type ToolDefinition,
} from './define/define-tool.ts';
export { mcpTools, type McpServer, type McpTools } from './define/mcp/mcp-tools.ts';
export { prepareRun } from './define/prepare-run.ts';
export { createRegistry, type Registry } from './define/registry.ts';
export { ToolError } from './define/tool-error.ts';
export { commandTool } from './define/command/command-tool.ts';
export type { CommandOutput } from './define/command/command-output.ts';
export type { CommandExtras, CommandToolDefinition } from './define/command/definition.ts';
export type { HttpOutput } from './define/http/http-output.ts';
export { httpTool, type HttpRequest, type HttpToolDefinition } from './define/http/http-tool.ts';
export { modelReviewer, type ModelReviewerOptions } from './model/model-reviewer.ts';
export { DEFAULT_POLICY } from './protocol/policy.ts';
export type { Bound, RunOutcome, RunRequest, RunResult, RunStatus } from './protocol/run.ts';
export type { FailureRecord } from './protocol/schemas/failure-record.ts';
export type { Plan, PlanStep } from './protocol/schemas/plan.ts';
export type { Policy, PolicyPatch } from './protocol/schemas/policy.ts';
