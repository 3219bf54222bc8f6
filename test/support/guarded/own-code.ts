/** A user's own workflows, each with one thing that a guarded workflow may do. */
import { ApplicationFailure, condition, executeChild, log, sleep, workflowInfo } from '@temporalio/workflow';
import { guardedRun, runStep } from '../../../src/workflow.ts';
import { look } from './activities.ts';

const options = (memoryTaskQueue: string) => ({ agent: 'own', goal: 'try', memoryTaskQueue });

export function misspelt(memoryTaskQueue: string, policy: object): Promise<string> {
  return guardedRun({ ...options(memoryTaskQueue), policy }, () => Promise.resolve('never'));
}

/** A child workflow. `how` says whether it fails itself or its activity does. */
export async function child(how: string): Promise<string> {
  if (how === 'throws') throw ApplicationFailure.create({ message: 'no such page', type: 'NotFound' });
  if (how === 'waits') await condition(() => false);
  if (how === 'sleeps') await sleep('10 minutes');
  return look(how);
}

export function parent(memoryTaskQueue: string, how: string): Promise<string> {
  return guardedRun(options(memoryTaskQueue), async (guarded) => {
    const found = await guarded.step(
      'ask child',
      ({ attempt }) =>
        executeChild(child, {
          args: [how],
          workflowId: `${workflowInfo().workflowId}-child-${attempt}`,
          ...(how === 'waits' ? { workflowExecutionTimeout: '1 second' } : {}),
        }),
      { effect: 'read' },
    );
    return found ?? 'skipped';
  });
}

/** Declares the same step first as a read, then as a side effect. */
export function stricter(memoryTaskQueue: string): Promise<string> {
  return guardedRun(options(memoryTaskQueue), async (guarded) => {
    await guarded.step('call', () => look('ok'), { effect: 'read' });
    return (await guarded.step('call', () => look('hangs up'), { effect: 'side_effect' })) ?? 'skipped';
  });
}

export async function oneStep(memoryTaskQueue: string): Promise<string[]> {
  const given = { agent: 'own', memoryTaskQueue, effect: 'read' } as const;
  const first = await runStep('look', () => look('flaky'), given);
  const second = await runStep('look', () => look('ok'), given);
  log.info('both done');
  return [first ?? '', second ?? ''];
}
