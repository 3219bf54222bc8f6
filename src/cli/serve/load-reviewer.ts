import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ApiDeps } from '../../api/api-context.ts';
import { ConfigError } from '../config/config-error.ts';
import type { LoopReport, ReviewReport } from '../../core/guardrails/loop-report.ts';
import { createMask, createRedactor, secretsOf } from '../../core/redaction/redact.ts';
import { defineAgent } from '../../define/define-agent.ts';
import type { LoopMaterial, LoopReviewer } from '../../define/loop-reviewer.ts';
import { modelReviewer } from '../../model/model-reviewer.ts';

/** The longest that a review may take, because the reporter waits for it. */
const REVIEW_MS = 20_000;
/** Enough for two requests to the model, each with one repair. */
const REVIEW_LEFT = { model_calls: 4, tokens: 100_000, cost_micro_usd: null };

/** Loads the reviewer from the file that SECONDWIND_REVIEWER names; undefined if the setting is not set. */
export async function loadReviewer(file: string | undefined, env: NodeJS.ProcessEnv): Promise<ApiDeps['reviewer']> {
  if (file === undefined) return undefined;
  const review = await importReviewer(file);
  return async (report) => {
    const signal = AbortSignal.timeout(REVIEW_MS);
    const tooLate = new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error(`it took longer than ${REVIEW_MS / 1000} s`)));
    });
    const judge = (material: LoopMaterial) => reviewWithModel(report, material, signal, env);
    return Promise.race([Promise.resolve(review(report, { signal, environment: env, judge })), tooLate]);
  };
}

async function importReviewer(file: string): Promise<LoopReviewer> {
  const nextStep =
    'SECONDWIND_REVIEWER must name a file whose default export is a function that reviews a report. Correct or unset it.';
  let found: { default?: unknown };
  try {
    found = (await import(pathToFileURL(resolve(file)).href)) as { default?: unknown };
  } catch (error) {
    const why = (error instanceof Error ? error.message : String(error)).split('\n')[0]?.slice(0, 300);
    throw new ConfigError(`The reviewer ${file} cannot be loaded: ${why}`, nextStep);
  }
  if (typeof found.default === 'function') return found.default as LoopReviewer;
  throw new ConfigError(`The reviewer ${file} has no function as its default export.`, nextStep);
}

/** Stands for the unknown agent that ran the pass. It uses the model that the environment configures. */
const ELSEWHERE = defineAgent({ name: 'elsewhere', instructions: 'Run loops elsewhere.', tools: [] });

async function reviewWithModel(
  { loop_id }: LoopReport,
  { goal, output, steps = [] }: LoopMaterial,
  signal: AbortSignal,
  environment: NodeJS.ProcessEnv,
): Promise<ReviewReport> {
  const succeeded = steps.filter(({ status }) => status === 'ok').length;
  const view = {
    run_id: loop_id,
    agent: ELSEWHERE.name,
    goal,
    loop_id,
    steps: steps.map(({ tool, status }, index) => ({ step_id: index + 1, tool, status, artifact_id: null })),
    output,
    raw_output: output,
    by_rules: {
      alignment_score: steps.length === 0 ? 1 : succeeded / steps.length,
      drift_score: 0,
      summary_valid: true,
    },
    detected: null,
    left: REVIEW_LEFT,
    timeout_ms: REVIEW_MS,
  };
  const secrets = secretsOf(environment);
  const redact = createRedactor(secrets);
  const spend = (): void => {};
  return modelReviewer()(view, {
    agent: ELSEWHERE,
    signal,
    redact,
    maskKnown: createMask(secrets),
    now: () => Date.now(),
    environment,
    spend,
  });
}
