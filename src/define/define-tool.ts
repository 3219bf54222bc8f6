import { z } from 'zod';
import { hashOfJson } from '../protocol/ids.ts';
import { isRecord, type Json } from '../protocol/json.ts';
import type { Agent } from './define-agent.ts';
import type { Constraints, Guidance, ToolEffect, ToolManifestEntry } from '../protocol/tools.ts';

/** What a tool gets beside its input. */
export interface ToolContext {
  /** What earlier failures taught, for this attempt. */
  guidance: Guidance;
  /** 1 for the first attempt of the step. */
  attempt: number;
  /** Limits that the run enforces on this call. */
  constraints: Constraints;
  /** The same for all attempts of the step: hand it to whatever must not do things twice. */
  idempotencyKey: string;
  /** Aborted on cancel, on the time-out, and when the worker has to stop. */
  signal: AbortSignal;
  /** Progress that a person may see; the runner keeps the heart beating by itself. */
  heartbeat(details?: Json): void;
  /** Says what this attempt does differently, so that a success can become a lesson. */
  changed(text: string): void;
  /** What the work used, where it asked a model itself: the monitors of retries count it. */
  used(use: { model?: string; tokens?: number; costMicroUsd?: number }): void;
  /** The prompt to use: on a first attempt as it is, on a retry with what was missed said before it. */
  enhance(prompt: string, options?: { provider?: string }): Promise<string>;
  /** A structured line in the worker's log; secrets are taken out. */
  log(event: string, fields?: { [name: string]: Json }): void;
  /** Keeps bytes in the store beside the attempt and gives their id; null when the store is away. */
  keep(what: string, bytes: Uint8Array, mediaType?: string): Promise<string | null>;
}

/**
 * A function of one tool. A list holds tools of many types, and each is called only with what its own input schema has parsed, so
 * the parameters must not keep a tool out of the list: those of a method do not.
 */
type OwnFunction<Parameters extends unknown[], Result> = { own(...given: Parameters): Result }['own'];

export interface ToolDefinition<Input = unknown, Output = unknown> {
  name: string;
  /** What it does, in words for a model that may choose it. */
  description?: string;
  /** `read` and `idempotent` may run twice; `side_effect` never does so unseen. */
  effect: ToolEffect;
  kind?: 'action' | 'retrieval';
  /** For retrieval: the best score below which a result counts as no result. */
  minConfidence?: number;
  input: z.ZodType<Input>;
  output: z.ZodType<Output>;
  timeoutMs?: number;
  /** An answer larger than this, as JSON, is a failure. */
  maxOutputBytes?: number;
  /** Its output is text in which feedback may stand, such as the report of a test runner. */
  detect?: boolean;
  /** For retrieval: what was asked for, where it is not `query` or `q` of the input. */
  queryOf?: OwnFunction<[input: NoInfer<Input>], string>;
  /** What makes two calls the same call, where the arguments do not tell. */
  loopKey?: OwnFunction<[input: NoInfer<Input>], string>;
  /** A cheap look at the world: a changed answer is progress. */
  probe?: OwnFunction<[input: NoInfer<Input>], Promise<Json> | Json>;
  /** Its work is checked by somebody: its steps then count in the monitors of retries. */
  evaluates?: boolean;
  /** A person must approve each call. */
  approval?: boolean;
  /** Values that it holds and that belong in no record: they are taken out of everything that the worker writes. */
  secrets?: readonly string[];
  /** Finds out whether an attempt that gave no answer had its effect. */
  reconcile?: OwnFunction<
    [input: NoInfer<Input>, context: Pick<ToolContext, 'idempotencyKey' | 'attempt' | 'signal'>],
    Promise<Reconciled<Output>> | Reconciled<Output>
  >;
  run: OwnFunction<[input: NoInfer<Input>, context: ToolContext], Promise<Output> | Output>;
}

export type Reconciled<Output = unknown> = { verdict: 'done'; output: Output } | { verdict: 'not_done' | 'unknown' };

/** Without its types a tool is any tool, as in a list of them. */
export interface Tool<Input = unknown, Output = unknown> extends ToolDefinition<Input, Output> {
  manifest: ToolManifestEntry;
  /** Whose work it is: then a call is a run of that agent. */
  agent?: Agent;
}

const DEFAULT_TIMEOUT_MS = 60_000;
export const DEFAULT_MAX_OUTPUT_BYTES = 10 * 1024 * 1024;
const DEFAULT_MIN_CONFIDENCE = 0.5;
const TOOL_NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;

/** Makes a tool: a function with schemas, and what the run must know about its effect. */
export function defineTool<Input, Output>(definition: ToolDefinition<Input, Output>): Tool<Input, Output> {
  const { name } = definition;
  if (!TOOL_NAME.test(name)) {
    throw new TypeError(
      `A tool's name is a letter, then letters, digits, . _ or -, 64 at most; got ${name.slice(0, 80)}`,
    );
  }
  const timeoutMs = definition.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  if (!Number.isInteger(timeoutMs) || timeoutMs < 1) {
    throw new TypeError(`timeoutMs of the tool ${name} is a whole number of milliseconds, 1 or more.`);
  }
  const { maxOutputBytes = DEFAULT_MAX_OUTPUT_BYTES } = definition;
  if (!Number.isInteger(maxOutputBytes) || maxOutputBytes < 1) {
    throw new TypeError(`maxOutputBytes of the tool ${name} is a whole number of bytes, 1 or more.`);
  }
  const manifest: ToolManifestEntry = {
    name,
    effect: definition.effect,
    kind: definition.kind ?? 'action',
    min_confidence: definition.minConfidence ?? DEFAULT_MIN_CONFIDENCE,
    timeout_ms: timeoutMs,
    approval: definition.approval === true,
    reconcile: definition.reconcile !== undefined,
    evaluates: definition.evaluates === true,
    schema_hash: hashOfJson({ input: schemaOf(definition.input), output: schemaOf(definition.output) }),
  };
  return { ...definition, manifest };
}

const schemaOf = (schema: z.ZodType): unknown => z.toJSONSchema(schema, { unrepresentable: 'any', io: 'input' });

/** By what it has, not by its class: another copy of this package may have made it. */
export const isTool = (value: unknown): value is Tool =>
  isRecord(value) && typeof value['run'] === 'function' && isRecord(value['manifest']);
