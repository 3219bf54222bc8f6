import type { Redact } from '../core/redaction/index.ts';
import { prepareRun } from '../define/prepare-run.ts';
import type { Registry } from '../define/registry.ts';
import type { PrepareOutcome } from '../protocol/run.ts';
import { createPlannerActivities } from './planner.ts';
import { createRecordActivities } from './records.ts';
import { createReviewActivities } from './review.ts';
import type { ActivityStore } from './store-port.ts';
import { createToolActivities } from './tools/create-tool-activities.ts';

export interface ActivityDeps {
  registry: Registry;
  store: ActivityStore;
  redact: Redact;
}

/** Everything that a worker does for runs. */
export function createActivities(deps: ActivityDeps) {
  return {
    ...createToolActivities(deps),
    ...createPlannerActivities(deps),
    ...createReviewActivities(deps),
    ...createRecordActivities(deps.store),
    prepare: async (request: unknown, runId: string): Promise<PrepareOutcome> =>
      prepareRun(request, deps.registry, runId),
  };
}
