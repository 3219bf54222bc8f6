import { channel } from 'node:diagnostics_channel';
import type { ModelOutcome } from '../protocol/model.ts';
import { isEndpoint, type ModelSource } from '../define/model-source.ts';
import type { ModelRequest } from './request.ts';
import { nameOf } from './resolve-model.ts';

/** One request to a model and its outcome, for telemetry. */
export interface ModelCallSeen {
  model: string;
  provider: string;
  /** The host of the model server, if it is known. */
  server: string | null;
  request: ModelRequest;
  outcome: ModelOutcome;
  startedAt: number;
}

/** A diagnostics channel: publishing costs nothing without subscribers. */
export const MODEL_CALLS = channel('secondwind:model_call');

export function publishModelCall(
  source: ModelSource,
  request: ModelRequest,
  outcome: ModelOutcome,
  startedAt: number,
): void {
  if (!MODEL_CALLS.hasSubscribers) return;
  const server = isEndpoint(source) && URL.canParse(source.base_url) ? new URL(source.base_url).hostname : null;
  const provider = isEndpoint(source) ? 'openai_compatible' : source.provider;
  MODEL_CALLS.publish({
    model: nameOf(source),
    provider,
    server,
    request,
    outcome,
    startedAt,
  } satisfies ModelCallSeen);
}
