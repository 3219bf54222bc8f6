/**
 * For tests on the shared stack: beside the programs, one stack and one workflow bundle for a whole test run. Vitest does
 * not call this for `--project unit`.
 */
import type { TestProject } from 'vitest/node';
import { bundleForPrograms } from './bundle.ts';
import setupPrograms from './programs-setup.ts';
import type { ProvidedStack } from './provided.ts';
import { shared } from './shared-by-projects.ts';
import { startSharedStack } from './shared-stack.ts';

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const letProgramsGo = await setupPrograms(project);
  const { programs } = project.getProvidedContext();
  const bundled = shared(
    'bundle of the programs',
    () => bundleForPrograms(programs),
    async () => {},
  );
  const { value, letGo } = await shared('stack', startSharedStack, (stack) => stack.stop());
  const { provided } = value;
  for (const name of Object.keys(provided) as (keyof ProvidedStack)[]) project.provide(name, provided[name]);
  await bundled;
  return async () => {
    await letGo();
    await letProgramsGo();
  };
}
