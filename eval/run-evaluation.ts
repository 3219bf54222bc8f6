import { z } from 'zod';
import type { Evaluation } from '../src/core/retry/monitors.ts';
import { classifyCommandEnd } from '../src/core/retry/exit-codes.ts';
import { enhancePrompt } from '../src/core/retry/enhancement.ts';
import { defineAgent } from '../src/define/define-agent.ts';
import { defineTool } from '../src/define/define-tool.ts';
import { prepareRun } from '../src/define/prepare-run.ts';
import { createRegistry } from '../src/define/registry.ts';
import { sha256Hex } from '../src/protocol/ids.ts';
import { defined, type Json } from '../src/protocol/json.ts';
import type { PolicyPatch } from '../src/protocol/schemas/policy.ts';
import type { CallOutcome, ToolCallRequest } from '../src/protocol/tools.ts';
import { simulateRun, StuckRunError } from '../src/testing/simulator/simulate-run.ts';
import { answer, demandsOf, type Conditions } from './provider.ts';
import { SEED } from './seed-figures.ts';

const GENERATE_MS = SEED.work_ms - SEED.call_ms;
const GENERATE_COST = SEED.work_cost_micro_usd - SEED.call_cost_micro_usd;

const shape = { effect: 'read', input: z.json(), output: z.json(), run: () => null } as const;
const generate = defineTool({ name: 'generate', ...shape });
const evaluate = defineTool({ name: 'evaluate', evaluates: true, ...shape });
const registry = createRegistry([defineAgent({ name: 'evaluator', tools: [generate, evaluate] })]);

export interface Subject {
  id: string;
  model: string;
  document: string;
}

/** The run made more attempts than its limit allows, or did not end. */
export class EndlessRunError extends Error {
  override readonly name = 'EndlessRunError';
}

export interface EvaluationResult {
  evaluation: Evaluation;
  /** From the first step to the end, on the virtual clock. */
  took_ms: number;
  /** Prompt notes that asked for something that was not missing. */
  superfluous_demands: number;
}

const succeeded = (output: Json, durationMs: number, cost: number): CallOutcome => {
  const text = JSON.stringify(output);
  return {
    class: 'ok',
    output,
    inline: true,
    artifact_id: sha256Hex(text),
    bytes: text.length,
    duration_ms: durationMs,
    cost_micro_usd: cost,
  };
};

/** Acts as the tool: builds the prompt of this attempt, calls the provider, and returns how the command ended. */
function callEvaluator(
  request: ToolCallRequest,
  fate: Conditions,
  original: string,
  { seen, enhancedMs }: { seen: (prompt: string) => void; enhancedMs: number },
) {
  const { retry_context } = request;
  const enhanced =
    retry_context === undefined ? null : enhancePrompt({ prompt: original, ...retry_context, provider: 'google' });
  const prompt = enhanced?.prompt ?? original;
  if (enhanced !== null) seen(prompt);
  const exitCode = answer(fate, prompt, request.attempt);
  const verdict = classifyCommandEnd({
    exit_code: exitCode,
    signal: null,
    stderr: exitCode === 0 ? '' : '[VALIDATION FAILED]',
    timed_out: false,
    protocol: true,
  });
  const used = {
    duration_ms: enhanced === null ? SEED.call_ms : enhancedMs,
    tokens: SEED.call_tokens,
    cost_micro_usd: SEED.call_cost_micro_usd,
    ...(enhanced === null
      ? {}
      : {
          prompt: {
            original_id: sha256Hex(original),
            enhanced_id: sha256Hex(prompt),
            diff_id: enhanced.added === '' ? null : sha256Hex(enhanced.added),
            enhancement: enhanced.enhancement,
          },
        }),
  };
  if (verdict.ok) return { ...succeeded({ score: 4 }, SEED.call_ms, SEED.call_cost_micro_usd), ...used };
  return {
    class: 'failed',
    origin: 'tool',
    certainty: verdict.certainty,
    category: verdict.category,
    error_code: verdict.error_code,
    message_preview: `exit code ${exitCode}`,
    ...used,
  } satisfies CallOutcome;
}

/** Runs one evaluation: something is generated, then evaluated, with the same code that the workflow runs. */
export async function runEvaluation(
  subject: Subject,
  fate: Conditions,
  policy: PolicyPatch,
  /** How long a call takes whose prompt was enhanced. */
  enhancedMs: number = SEED.call_ms,
): Promise<EvaluationResult> {
  const original = `Judge ${subject.document} by the four criteria of the rubric, with a score from 1 to 5 for each.`;
  const plan = {
    steps: [
      { phase: 'generate', tool: generate.name, input: { document: subject.document } },
      { phase: 'evaluate', tool: evaluate.name, input: { document: subject.document, prompt: original } },
    ],
  };
  const prepared = prepareRun({ agent: 'evaluator', goal: 'evaluate', plan, policy }, registry, subject.id);
  if (!prepared.ok) throw new Error(JSON.stringify(prepared.problems));

  let superfluous = 0;
  const seen = (prompt: string): void => {
    const { grounding, reasoning } = demandsOf(prompt);
    if ((grounding && fate.missing === 'reasoning') || (reasoning && fate.missing === 'grounding')) superfluous += 1;
  };
  let calls = 0;
  const call = (request: ToolCallRequest): CallOutcome => {
    calls += 1;
    if (calls > prepared.prepared.bound.attempts) throw new EndlessRunError(subject.id);
    return request.tool === generate.name
      ? succeeded({ text: subject.document }, GENERATE_MS, GENERATE_COST)
      : callEvaluator(request, fate, original, { seen, enhancedMs });
  };
  const { result, records } = await simulateRun(prepared.prepared, { world: { call } }).catch((error: unknown) => {
    throw error instanceof StuckRunError ? new EndlessRunError(subject.id) : error;
  });
  const [told] = records.flatMap((batch) => batch.evaluations);
  if (told === undefined) throw new Error(`${subject.id} was not evaluated`);
  const { started_at, ended_at } = result;
  return {
    evaluation: {
      evaluation_id: subject.id,
      agent: told.agent,
      model: subject.model,
      subject: subject.document,
      attempts: told.attempts,
      // As the run wrote them: the time and cost of its first step.
      other_ms: told.other_ms ?? 0,
      other_cost_micro_usd: told.other_cost_micro_usd ?? 0,
      ...defined({ arm: told.arm }),
    },
    took_ms: Date.parse(ended_at) - Date.parse(started_at),
    superfluous_demands: superfluous,
  };
}
