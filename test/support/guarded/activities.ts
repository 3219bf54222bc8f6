import { proxyActivities } from '@temporalio/workflow';

export interface LookActivities {
  /** Fails as `how` says. */
  look(how: string): Promise<string>;
}

export const { look } = proxyActivities<LookActivities>({
  startToCloseTimeout: '10 seconds',
  retry: { maximumAttempts: 1 },
});
