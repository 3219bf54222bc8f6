/** A running stack, the workflow bundle and the programs, for the tests of a project. */
import type { TestProject } from 'vitest/node';
import { bundleOfPrograms } from './bundle.ts';
import setupPrograms from './programs-setup.ts';
import type { ProvidedStack } from './provided.ts';
import { shared } from './shared-by-projects.ts';
import { type SharedStackKind, startSharedStack } from './shared-stack.ts';

/** Projects that use the same kind of stack share one. */
export async function provideStack(project: TestProject, kind: SharedStackKind): Promise<() => Promise<void>> {
  const letProgramsGo = await setupPrograms(project);
  const { programs } = project.getProvidedContext();
  const bundled = shared(
    'bundle of the programs',
    () => bundleOfPrograms(programs),
    async () => {},
  );
  const { value, letGo } = await shared(
    `${kind} stack`,
    () => startSharedStack(kind),
    (stack) => stack.stop(),
  );
  const provided: ProvidedStack = { ...value.provided, bundlePath: (await bundled).value };
  for (const key of Object.keys(provided) as (keyof ProvidedStack)[]) project.provide(key, provided[key]);
  return async () => {
    await letProgramsGo();
    await letGo();
  };
}
