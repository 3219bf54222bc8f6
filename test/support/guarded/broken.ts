/** A workflow with a bug, as a deployment may bring it. mended.ts is the same without the bug. */
import { guardedRun } from '../../../src/workflow.ts';
import { look } from './activities.ts';

export function report(memoryTaskQueue: string): Promise<string> {
  return guardedRun({ agent: 'reporter', goal: 'report', memoryTaskQueue }, async (guarded) => {
    const found = await guarded.step('look', () => look('flaky'), { effect: 'read' });
    const page = (found as unknown as { page: { title: string } }).page;
    return page.title;
  });
}
