import { z } from 'zod';
import { hashOfJson } from '../protocol/ids.ts';
import { defined, isRecord, type Json } from '../protocol/json.ts';
import type { Agent } from './define-agent.ts';
import type { Constraints, Guidance, ToolEffect, ToolManifestEntry } from '../protocol/tools.ts';
import { findPage } from './page-argument.ts';
import { statedValues } from './stated-values.ts';

/** The second argument of a tool's `run`: the attempt, its guidance, and what the worker offers to it. */
export interface ToolContext {
  /** What is known from earlier failures and lessons, for this attempt. */
  guidance: Guidance;
  /** The number of the attempt: 1 for the first attempt of the step. */
  attempt: number;
  /** Limits that the run enforces on this call. */
  constraints: Constraints;
  /** The same for all attempts of the step. Pass it to services that must not do the same work twice. */
  idempotencyKey: string;
  /**
   * Grows with every attempt. A receiver that remembers the highest fence of each idempotency key can refuse an older attempt
   * that arrives late, for example because its worker was frozen.
   */
  fence: number;
  /** The number of the step in the run. */
  stepId: number;
  /**
   * Throws if this attempt is over: its time is up, or its worker was frozen so long that the run has moved on. Call it right
   * before an effect.
   */
  throwIfExpired(): void;
  /** Aborted on cancel, on timeout, and when the worker shuts down. */
  signal: AbortSignal;
  /**
   * Reports progress that people can see. It is optional: the worker sends heartbeats by itself. Details over 16 KB are
   * dropped, with a line in the log.
   */
  heartbeat(details?: Json): void;
  /** Records what this attempt does differently, so that a success can become a lesson. */
  changed(text: string): void;
  /** Reports the tokens and the cost of a model that the tool asked. The retry monitors count them. */
  used(use: { model?: string; tokens?: number; costMicroUsd?: number }): void;
  /** Returns the prompt to use: unchanged on a first attempt, and with the retry context before it on a retry. */
  enhance(prompt: string, options?: { provider?: string }): Promise<string>;
  /** Writes a structured line to the worker's log, without secrets. */
  log(event: string, fields?: { [name: string]: Json }): void;
  /** Stores bytes with the attempt and returns their id, or null when the store cannot be reached. */
  keep(what: string, bytes: Uint8Array, mediaType?: string): Promise<string | null>;
}

/**
 * A function of one tool, declared as a method because method parameters are bivariant: tools of different types then fit into one
 * list. That is safe, because each tool is called only with what its own input schema has parsed.
 */
type OwnFunction<Parameters extends unknown[], Result> = { own(...given: Parameters): Result }['own'];

/** The argument of `defineTool`. */
export interface ToolDefinition<Input = unknown, Output = unknown> {
  /** A letter, then letters, digits and `. _ -`, at most 64 characters. */
  name: string;
  /** What the tool does, for a model that may call it. */
  description?: string;
  /**
   * What a call changes. An attempt of a `read` or `idempotent` tool that gave no answer is retried. For a `side_effect` the run first
   * finds out whether it happened: it calls `reconcile`, or asks a person.
   */
  effect: ToolEffect;
  /** A `retrieval` tool searches for something; finding nothing is then a failure. Default: `action`. */
  kind?: 'action' | 'retrieval';
  /** For retrieval: if the best score is lower, the result counts as no result. Default: 0.5. */
  minConfidence?: number;
  /** The zod schema of the input. A call that does not match it never reaches `run`. */
  input: z.ZodType<Input>;
  /** The zod schema of the output. An output that does not match it is a failure. */
  output: z.ZodType<Output>;
  /** The longest that one attempt may take. Default: 60 seconds. */
  timeoutMs?: number;
  /** The most bytes that the output may have as JSON; more is a failure. Default: 10 MB. */
  maxOutputBytes?: number;
  /**
   * The argument that says how many items a call returns. If an output is too large, the next attempt is told to ask for fewer. For
   * a `read` tool, a numeric argument with a usual name such as `limit` or `page_size` is recognised by itself.
   */
  pageArgument?: string;
  /** True if the output is text that may contain feedback, such as the report of a test runner. */
  detect?: boolean;
  /** For retrieval: returns the search query, if it is not the field `query` or `q` of the input. */
  queryOf?: OwnFunction<[input: NoInfer<Input>], string>;
  /**
   * Returns the ids of the query, the chunks and the evidence that a failed call was about, for its failure record. `output` is absent
   * if the call returned nothing. Without it, fields with the usual names are read: `query_id`, `chunk_ids`, `evidence_ids`.
   */
  contextRefs?: OwnFunction<[input: NoInfer<Input>, output?: unknown], DeclaredRefs>;
  /** Returns a key that is equal for calls that do the same work, if their arguments differ. */
  loopKey?: OwnFunction<[input: NoInfer<Input>], string>;
  /** Returns a cheap snapshot of what the tool works on. A changed snapshot counts as progress. */
  probe?: OwnFunction<[input: NoInfer<Input>], Promise<Json> | Json>;
  /** True if something checks the work of this tool. Its steps then count in the retry monitors. */
  evaluates?: boolean;
  /** True if a person must approve each call. */
  approval?: boolean;
  /** Secret values that the tool holds. They are redacted wherever people read, and in what a model is sent. */
  secrets?: readonly string[];
  /** Finds out whether an attempt that gave no answer had its effect. */
  reconcile?: OwnFunction<
    [input: NoInfer<Input>, context: Pick<ToolContext, 'idempotencyKey' | 'fence' | 'stepId' | 'attempt' | 'signal'>],
    Promise<Reconciled<Output>> | Reconciled<Output>
  >;
  /** Does the work of one attempt and returns the output. Throw a `ToolError` to say how it failed; other errors are classified. */
  run: OwnFunction<[input: NoInfer<Input>, context: ToolContext], Promise<Output> | Output>;
}

/** The answer of `contextRefs`: ids of at most 200 characters; of each list the first 20 count. */
export interface DeclaredRefs {
  queryId?: string;
  chunkIds?: readonly string[];
  evidenceIds?: readonly string[];
  /** The part of the chunk, as the positions of its first character and of the one after its last. */
  span?: readonly [number, number];
}

/** The answer of `reconcile`. With `unknown` the run asks a person. */
export type Reconciled<Output = unknown> = { verdict: 'done'; output: Output } | { verdict: 'not_done' | 'unknown' };

/** A tool, as `defineTool` returns it. `Tool` without type arguments is any tool. */
export interface Tool<Input = unknown, Output = unknown> extends ToolDefinition<Input, Output> {
  /** What the workflow needs to know about the tool. It is part of the run's input. */
  manifest: ToolManifestEntry;
  /** For `agentTool`: the agent that does the work. A call is then a run of that agent. */
  agent?: Agent;
}

const DEFAULT_TIMEOUT_MS = 60_000;
export const DEFAULT_MAX_OUTPUT_BYTES = 10 * 1024 * 1024;
const DEFAULT_MIN_CONFIDENCE = 0.5;
const TOOL_NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;

/**
 * Defines a tool: a function with an input schema, an output schema and a declared effect.
 *
 * Returns the tool, to be listed in `tools` of an agent. Throws a `TypeError` if its name or one of its limits is invalid.
 *
 * @example
 * ```ts
 * const greet = defineTool({
 *   name: 'greet',
 *   effect: 'read',
 *   input: z.object({ name: z.string() }),
 *   output: z.string(),
 *   run: ({ name }) => `Hello, ${name}!`,
 * });
 * ```
 */
export function defineTool<Input, Output>(definition: ToolDefinition<Input, Output>): Tool<Input, Output> {
  const { name } = definition;
  if (!TOOL_NAME.test(name)) {
    throw new TypeError(
      `The tool name "${name.slice(0, 80)}" is invalid. Use a letter, then letters, digits, ".", "_" or "-", at most 64 characters.`,
    );
  }
  const timeoutMs = definition.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  if (!Number.isInteger(timeoutMs) || timeoutMs < 1) {
    throw new TypeError(
      `timeoutMs of the tool ${name} must be a whole number of milliseconds, 1 or more; got ${String(timeoutMs)}.`,
    );
  }
  const { maxOutputBytes = DEFAULT_MAX_OUTPUT_BYTES } = definition;
  if (!Number.isInteger(maxOutputBytes) || maxOutputBytes < 1) {
    throw new TypeError(
      `maxOutputBytes of the tool ${name} must be a whole number of bytes, 1 or more; got ${String(maxOutputBytes)}.`,
    );
  }
  const inputSchema = schemaOf(definition.input);
  const manifest: ToolManifestEntry = {
    name,
    effect: definition.effect,
    kind: definition.kind ?? 'action',
    min_confidence: definition.minConfidence ?? DEFAULT_MIN_CONFIDENCE,
    timeout_ms: timeoutMs,
    approval: definition.approval === true,
    reconcile: definition.reconcile !== undefined,
    evaluates: definition.evaluates === true,
    schema_hash: hashOfJson({ input: inputSchema, output: schemaOf(definition.output) }),
    ...defined({ stated: statedValues(inputSchema), page: findPage(inputSchema, definition) }),
  };
  return { ...definition, manifest };
}

const schemaOf = (schema: z.ZodType): unknown => z.toJSONSchema(schema, { unrepresentable: 'any', io: 'input' });

/** Recognises a tool by its fields and not by a class, because another copy of this package may have made it. */
export const isTool = (value: unknown): value is Tool =>
  isRecord(value) && typeof value['run'] === 'function' && isRecord(value['manifest']);
