import { type Client, WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import { workflowIdOfRun } from '../protocol/ids.ts';
import { BUDGET_MESSAGE } from '../protocol/names.ts';
import type { PreparedRun } from '../protocol/run.ts';
import type { Grant, Loan } from '../protocol/sub-runs.ts';
import { RunNotFoundError, RunRequestError } from '../protocol/errors.ts';
import { endedOrUnknown } from './messages.ts';

export interface Borrowed {
  grant: Grant;
  /** For a start that fails: nothing was used. */
  giveBack(): Promise<void>;
}

/** A run with a parent draws on the parent's budget. A parent that is none of ours is only a name, and has none. */
export async function borrowBudget(
  client: Client,
  { run_id, parent_run_id: parent }: PreparedRun,
): Promise<Borrowed | null> {
  if (parent === null) return null;
  const handle = client.workflow.getHandle(workflowIdOfRun(parent));
  const { grant, is_new } = await handle
    .executeUpdate<Loan, [string]>(BUDGET_MESSAGE.lend, { args: [run_id] })
    .catch(async (error: unknown): Promise<Loan | { grant: undefined; is_new: false }> => {
      // A workflow of another kind that has its id, or a run of before: it lends nothing.
      if (error instanceof WorkflowUpdateFailedError) return { grant: undefined, is_new: false };
      if (!(error instanceof WorkflowNotFoundError)) throw error;
      const why = await endedOrUnknown(client, parent, error);
      if (why instanceof RunNotFoundError) return { grant: undefined, is_new: false };
      throw why;
    });
  if (grant === undefined) return null;
  if (grant === null) {
    const message = `the run ${parent} has nothing left to draw on; start without a parent`;
    throw new RunRequestError([{ path: '$.parent_run_id', message }]);
  }
  return {
    grant,
    giveBack: async () => {
      if (!is_new) return;
      await handle.signal(BUDGET_MESSAGE.giveBack, { sub_run_id: run_id, used: null }).catch(() => undefined);
    },
  };
}
