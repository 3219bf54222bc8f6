/** Your own workflow with guarded steps. It runs on your worker; a Secondwind worker stores the memory. */
import { proxyActivities } from '@temporalio/workflow';
import { guardedRun } from 'secondwind/workflow';

export interface BillingActivities {
  charge(order: string, idempotencyKey: string): Promise<string>;
  mailReceipt(order: string, receipt: string): Promise<void>;
}

// Temporal makes one attempt each, because the guarded step decides about every retry, on one budget.
const { charge, mailReceipt } = proxyActivities<BillingActivities>({
  startToCloseTimeout: '10 seconds',
  retry: { maximumAttempts: 1 },
});

export function bill(order: string, memoryTaskQueue?: string): Promise<string> {
  const queue = memoryTaskQueue === undefined ? {} : { memoryTaskQueue };
  return guardedRun({ agent: 'billing', goal: `bill ${order}`, ...queue }, async (guarded) => {
    const receipt = await guarded.step('charge', ({ idempotencyKey }) => charge(order, idempotencyKey), {
      effect: 'side_effect',
      input: { order },
    });
    if (receipt === undefined) return 'not charged';
    await guarded.step('mail', () => mailReceipt(order, receipt), { effect: 'idempotent', input: { order } });
    return receipt;
  });
}
