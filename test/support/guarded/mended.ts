/** broken.ts without its bug. */
import { guardedRun } from '../../../src/workflow.ts';
import { look } from './activities.ts';

export function report(memoryTaskQueue: string): Promise<string> {
  return guardedRun({ agent: 'reporter', goal: 'report', memoryTaskQueue }, async (guarded) => {
    const found = await guarded.step('look', () => look('flaky'), { effect: 'read' });
    return `a page about ${found}`;
  });
}
