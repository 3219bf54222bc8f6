import { redactJson } from '../../core/redaction/redact.ts';
import type { Tool, ToolContext } from '../../define/define-tool.ts';
import { hashOfJson } from '../../protocol/ids.ts';
import type { Json } from '../../protocol/json.ts';
import { CAP } from '../../protocol/caps.ts';
import type { KeptArtifact, ToldByAttempt, ToolCallRequest } from '../../protocol/tools.ts';
import { wholeText } from '../../protocol/text.ts';
import { keepBytes } from './artifacts.ts';
import type { LogEvent, ToolEnvironment } from './environment.ts';
import { openPromptDesk } from './prompts.ts';
import { cutTo } from './text.ts';
import { orNothing } from './with-timeout.ts';

const PROBE_MS = 5_000;
const MOST_KEPT = 10;

/** What one attempt says about itself while it runs, and what is looked at when it is over. */
export interface AttemptNotes {
  context: Omit<ToolContext, 'signal'>;
  log(event: LogEvent): void;
  kept(artifact: KeptArtifact): void;
  /** All of it, for the outcome. `ran`: the tool was really called, so the world is worth a look. */
  told(ended: 'ok' | 'failed', ran: { input: unknown } | null): Promise<ToldByAttempt>;
}

export function openNotes(tool: Tool, request: ToolCallRequest, env: ToolEnvironment): AttemptNotes {
  let changed: string | undefined;
  let use: { model?: string; tokens?: number; cost_micro_usd?: number } = {};
  const kept: KeptArtifact[] = [];
  const at = { run_id: request.run_id, step_id: request.step_id, attempt: request.attempt, tool: request.tool };
  const log = (event: LogEvent): void => {
    // A log that is full must not fail a tool that works.
    try {
      env.log(redactJson({ ...at, ...event }, env.redact) as LogEvent);
    } catch {
      return;
    }
  };
  const desk = openPromptDesk(request.retry_context, env, log);
  return {
    log,
    kept: (artifact) => void kept.push(artifact),
    context: {
      guidance: request.guidance,
      attempt: request.attempt,
      constraints: request.constraints,
      idempotencyKey: request.idempotency_key,
      heartbeat: (details) => env.heartbeat(details),
      changed: (text) => {
        // Untyped callers exist; what is no text tells nothing.
        if (typeof text === 'string') changed = text;
      },
      used: ({ model, tokens, costMicroUsd }) => {
        const told = { ...use, ...(typeof model === 'string' && { model: model.slice(0, CAP.nameChars) }) };
        // Several questions of one attempt add up; what is no count is left out.
        if (isCount(tokens)) told.tokens = (use.tokens ?? 0) + tokens;
        if (isCount(costMicroUsd)) told.cost_micro_usd = (use.cost_micro_usd ?? 0) + costMicroUsd;
        use = told;
      },
      enhance: async (prompt, options) => desk.enhance(prompt, options),
      log: (event, fields) => log({ ...fields, event }),
      keep: async (what, bytes, mediaType = 'application/octet-stream') => {
        if (kept.length >= MOST_KEPT) return null;
        const artifact = await keepBytes(env, what, bytes, mediaType);
        if (artifact !== null) kept.push(artifact);
        return artifact?.artifact_id ?? null;
      },
    },
    told: async (ended, ran) => {
      const [prompt, probe_hash] = await Promise.all([desk.used(ended), probeHash(tool, ran, env)]);
      return {
        ...use,
        ...(changed === undefined ? {} : { changed: short(changed, env) }),
        ...(prompt === undefined ? {} : { prompt }),
        ...(probe_hash === undefined ? {} : { probe_hash }),
        ...(kept.length === 0 ? {} : { kept: kept.slice(0, MOST_KEPT) }),
      };
    },
  };
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

const short = (text: string, env: ToolEnvironment): string =>
  cutTo(wholeText(env.redact(text)), CAP.messagePreviewChars);

/** A look at the world after the call; what cannot be seen in time is as if nobody had looked. */
async function probeHash(
  tool: Tool,
  ran: { input: unknown } | null,
  env: ToolEnvironment,
): Promise<string | undefined> {
  const { probe } = tool;
  if (probe === undefined || ran === null || env.stopped() !== null) return undefined;
  return orNothing(PROBE_MS, async () => {
    const seen: Json | undefined = await probe(ran.input);
    return seen === undefined ? undefined : hashOfJson(seen);
  });
}
