/** A running stack, the workflow bundle and the programs, for the tests of a project. */
import type { TestProject } from 'vitest/node';
import { bundleForPrograms } from './bundle.ts';
import setupPrograms from './programs-setup.ts';
import type { ProvidedStack } from './provided.ts';
import { shared } from './shared-by-projects.ts';
import { startSharedStack } from './shared-stack.ts';

/** Projects that name the same stack have the same one. */
export async function provideStack(project: TestProject, name: string): Promise<() => Promise<void>> {
  const letProgramsGo = await setupPrograms(project);
  const { programs } = project.getProvidedContext();
  const bundled = shared(
    'bundle of the programs',
    () => bundleForPrograms(programs),
    async () => {},
  );
  const { value, letGo } = await shared(`stack ${name}`, startSharedStack, (stack) => stack.stop());
  const { provided } = value;
  for (const key of Object.keys(provided) as (keyof ProvidedStack)[]) project.provide(key, provided[key]);
  await bundled;
  return async () => {
    await letProgramsGo();
    await letGo();
  };
}
