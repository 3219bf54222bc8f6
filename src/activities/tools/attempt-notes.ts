import { redactShown } from '../../core/redaction/shown.ts';
import type { Tool, ToolContext } from '../../define/define-tool.ts';
import { hashOfJson } from '../../protocol/ids.ts';
import { defined, type Json } from '../../protocol/json.ts';
import { CAP } from '../../protocol/caps.ts';
import type { KeptArtifact, AttemptDetails, ToolCallRequest } from '../../protocol/tools.ts';
import { toWellFormed } from '../../protocol/well-formed-text.ts';
import { keepBytes } from './artifacts.ts';
import type { LogEvent, ToolEnvironment } from './tool-environment.ts';
import { createPromptBuilder } from './prompt-builder.ts';
import { truncate } from './shorten-text.ts';
import { tryWithin } from './with-timeout.ts';

const PROBE_MS = 5_000;
const MAX_KEPT = 10;

/** Collects what one attempt reports about itself while it runs, and what is observed when it ends. */
export interface AttemptNotes {
  context: Omit<ToolContext, 'signal' | 'throwIfExpired'>;
  log(event: LogEvent): void;
  kept(artifact: KeptArtifact): void;
  /**
   * Returns everything collected, for the outcome. `ran` is set if the tool was really called, so that its probe makes
   * sense.
   */
  report(ended: 'ok' | 'failed', ran: { input: unknown } | null): Promise<AttemptDetails>;
}

export function createAttemptNotes(tool: Tool, request: ToolCallRequest, env: ToolEnvironment): AttemptNotes {
  let changed: string | undefined;
  let use: { model?: string; tokens?: number; cost_micro_usd?: number } = {};
  const kept: KeptArtifact[] = [];
  const at = { run_id: request.run_id, step_id: request.step_id, attempt: request.attempt, tool: request.tool };
  const log = (event: LogEvent): void => {
    // A failing log must not fail a tool that works.
    try {
      env.log(redactShown({ ...at, ...event }, env.redact));
    } catch {
      return;
    }
  };
  const promptBuilder = createPromptBuilder(request.retry_context, env, log);
  return {
    log,
    kept: (artifact) => void kept.push(artifact),
    context: {
      guidance: request.guidance,
      attempt: request.attempt,
      constraints: request.constraints,
      idempotencyKey: request.idempotency_key,
      fence: request.fence,
      stepId: request.step_id,
      heartbeat: (details) => {
        const problem = problemOfDetails(details);
        if (problem !== null) log({ event: 'heartbeat_details_dropped', reason: problem });
        env.heartbeat(problem === null ? details : undefined);
      },
      changed: (text) => {
        // Callers without types may pass anything; values that are not strings are ignored.
        if (typeof text === 'string') changed = text;
      },
      used: ({ model, tokens, costMicroUsd }) => {
        const told = { ...use, ...(typeof model === 'string' && { model: model.slice(0, CAP.nameChars) }) };
        // An attempt may call a model several times, so the counts add up. Values that are not counts are ignored.
        if (isCount(tokens)) told.tokens = (use.tokens ?? 0) + tokens;
        if (isCount(costMicroUsd)) told.cost_micro_usd = (use.cost_micro_usd ?? 0) + costMicroUsd;
        use = told;
      },
      enhance: async (prompt, options) => promptBuilder.enhance(prompt, options),
      log: (event, fields) => log({ ...fields, event }),
      keep: async (what, bytes, mediaType = 'application/octet-stream') => {
        if (kept.length >= MAX_KEPT) return null;
        const artifact = await keepBytes(env, what, bytes, mediaType);
        if (artifact !== null) kept.push(artifact);
        return artifact?.artifact_id ?? null;
      },
    },
    report: async (ended, ran) => {
      const [prompt, probe_hash] = await Promise.all([promptBuilder.used(ended), probeHash(tool, ran, env)]);
      return {
        ...use,
        ...(changed === undefined ? {} : { changed: short(changed, env) }),
        ...defined({ prompt, probe_hash }),
        ...(kept.length === 0 ? {} : { kept: kept.slice(0, MAX_KEPT) }),
      };
    },
  };
}

/**
 * Checks that a heartbeat's details are small enough to travel. The attempt goes on without them, because an error in
 * the middle of a side effect would leave its outcome unknown.
 */
function problemOfDetails(details: Json | undefined): string | null {
  if (details === undefined) return null;
  try {
    const bytes = Buffer.byteLength(JSON.stringify(details));
    return bytes <= CAP.heartbeatBytes ? null : `${bytes} bytes are over the cap of ${CAP.heartbeatBytes}`;
  } catch {
    return 'the details are not JSON';
  }
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

const short = (text: string, env: ToolEnvironment): string =>
  truncate(toWellFormed(env.redact(text)), CAP.messagePreviewChars);

/** Runs the tool's probe after the call. A probe that fails or takes too long counts as no probe. */
async function probeHash(
  tool: Tool,
  ran: { input: unknown } | null,
  env: ToolEnvironment,
): Promise<string | undefined> {
  const { probe } = tool;
  if (probe === undefined || ran === null || env.stopped() !== null) return undefined;
  return tryWithin(PROBE_MS, async () => {
    const seen: Json | undefined = await probe(ran.input);
    return seen === undefined ? undefined : hashOfJson(seen);
  });
}
