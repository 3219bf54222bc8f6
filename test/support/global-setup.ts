/**
 * One stack and one workflow bundle for a whole test run. Vitest calls this once for each project that has tests to run,
 * and not at all for `--project unit`; the projects share what the first of them started.
 */
import type { TestProject } from 'vitest/node';
import type { ProvidedStack } from './provided.ts';
import type { SharedStack } from './shared-stack.ts';
import { startSharedStack } from './shared-stack.ts';

interface Sharing {
  users: number;
  started: Promise<SharedStack>;
}

// Each project loads this file anew, so the meeting point has to be outside of it.
const meetingPoint = globalThis as { secondwindTestStack?: Sharing | undefined };

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  meetingPoint.secondwindTestStack ??= { users: 0, started: startSharedStack() };
  const sharing = meetingPoint.secondwindTestStack;
  sharing.users += 1;
  const { provided } = await sharing.started;
  for (const name of Object.keys(provided) as (keyof ProvidedStack)[]) project.provide(name, provided[name]);
  return async () => {
    sharing.users -= 1;
    if (sharing.users > 0) return;
    meetingPoint.secondwindTestStack = undefined;
    await (await sharing.started).stop();
  };
}
