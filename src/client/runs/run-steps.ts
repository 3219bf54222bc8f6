import type { ArchivedStep } from '../../protocol/records.ts';
import { RunNotFoundError } from '../../protocol/errors.ts';
import type { ProjectedStep } from '../views.ts';

/** From history; once that is gone, the archive still knows which steps there were, but not when. */
export async function runSteps(
  runId: string,
  fromHistory: () => Promise<ProjectedStep[]>,
  archive: { get(runId: string): Promise<{ summary: unknown } | null> } | undefined,
): Promise<ProjectedStep[]> {
  try {
    return await fromHistory();
  } catch (error) {
    const kept = error instanceof RunNotFoundError ? await archive?.get(runId) : null;
    if (!kept) throw error;
    const { steps = [] } = kept.summary as { steps?: ArchivedStep[] };
    return steps.map(({ loop_id, step_id, phase, tool }) => ({ loop_id, step_id, phase, tool, attempts: [] }));
  }
}
