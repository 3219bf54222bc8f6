import type { Client } from '@temporalio/client';
import type { OverrideEntry } from '../../core/guardrails/overrides.ts';
import type { ReasonedTraceItem } from '../../core/guardrails/loop-trace.ts';
import { QUERY } from '../../protocol/names.ts';
import { askRun, noAnswer } from './ask-run.ts';

export interface TraceArchiveReader {
  get(runId: string): Promise<{ trace: unknown } | null>;
}

/** The loops of a run with why each was run again or was the last: from the run itself, else from the archive. */
export async function runTrace(
  client: Client,
  runId: string,
  archive: TraceArchiveReader | undefined,
): Promise<ReasonedTraceItem[]> {
  const asked = await askRun<{ trace: ReasonedTraceItem[] }>(client, runId, QUERY.trace);
  if (asked.answer !== null) return asked.answer.trace;
  const kept = await archive?.get(runId);
  if (kept) return kept.trace as ReasonedTraceItem[];
  throw noAnswer(runId, asked.cause);
}

/** Who overrode, why and when, and which decision spent it. */
export const overridesOf = (trace: readonly ReasonedTraceItem[]): OverrideEntry[] =>
  trace.flatMap((item) => item.overrides ?? []);
