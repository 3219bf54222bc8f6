/** The documented families of loops as runs: an agent whose reviewer gives each pass the scores of the vectors. */
import vectors from '../vectors/families.json' with { type: 'json' };
import type { ReviewReport } from '../../src/core/guardrails/loop-report.ts';
import type { ReviewView } from '../../src/core/run/ports.ts';
import { defineAgent } from '../../src/define/define-agent.ts';
import type { RunRequest } from '../../src/protocol/run.ts';
import { scriptedTools } from './scripted-tools.ts';

interface VectorLoop {
  loop_id: string;
  alignment_score: number;
  drift_score: number;
  summary_valid?: boolean;
  bias_tags?: string[];
  override_fatigue?: boolean;
  override_max_reruns?: boolean;
  override_by?: string;
  expect: {
    decision: string;
    reason: string;
    reflection_fatigue: number;
    rerun_count: number;
    rerun_trigger: string[];
  };
}
export interface Family {
  family: string;
  max_reruns: number;
  loops: VectorLoop[];
}
export const families = vectors as Family[];

const depthOf = (loopId: string): number => Number(/_r(\d+)$/.exec(loopId)?.[1] ?? 0);
const loopOf = (view: Pick<ReviewView, 'goal' | 'loop_id'>): VectorLoop => {
  const loop = families.find((family) => family.family === view.goal)?.loops[depthOf(view.loop_id)];
  if (loop === undefined) throw new Error(`the vectors know no ${view.loop_id} of ${view.goal}`);
  return loop;
};

export const reviewOf = (view: ReviewView): ReviewReport => {
  const { alignment_score, drift_score, summary_valid = true, bias_tags = [] } = loopOf(view);
  return { alignment_score, drift_score, summary_valid, bias_tags, reflection_persona: 'SAGE' };
};

/** The override of the vector's report. In a run it is sent as a message during the review. */
export function overrideOf(view: ReviewView): Record<string, boolean | string> | null {
  const { override_fatigue = false, override_max_reruns = false, override_by = 'operator' } = loopOf(view);
  return override_fatigue || override_max_reruns ? { override_fatigue, override_max_reruns, override_by } : null;
}

export const judgedAgent = (sendOverride: (runId: string, body: Record<string, boolean | string>) => Promise<void>) =>
  defineAgent({
    name: 'judged',
    tools: scriptedTools,
    review: async (view) => {
      const override = overrideOf(view);
      if (override !== null) await sendOverride(view.run_id, override);
      return reviewOf(view);
    },
  });

export const requestOf = (family: Family): Omit<RunRequest, 'run_id'> => ({
  agent: 'judged',
  goal: family.family,
  plan: { steps: [{ phase: 'work', tool: 'script.read', input: { attempts: [{ ok: 'work' }] } }] },
  policy: { reruns: { max_reruns: family.max_reruns } },
});

/** The vectors' decision about each loop, in the format of a run's trace. */
export const expectedTrace = (family: Family) =>
  family.loops.map(({ expect }) => ({
    status: expect.decision === 'rerun' ? 'rerun' : 'finalized',
    reflection_fatigue: expect.reflection_fatigue,
    reason: expect.reason,
  }));

export const readTrace = (trace: unknown) =>
  (
    trace as {
      status: string;
      reflection_fatigue: number;
      rerun_reason: string | null;
      finalize_reason: string | null;
    }[]
  ).map(({ status, reflection_fatigue, rerun_reason, finalize_reason }) => ({
    status,
    reflection_fatigue,
    reason: status === 'rerun' ? rerun_reason : finalize_reason,
  }));
