/** The programs that tests start, built once for a whole test run. */
import type { TestProject } from 'vitest/node';
import { buildPrograms } from './build-programs.ts';
import { shared } from './shared-by-projects.ts';

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { value, letGo } = await shared('programs', buildPrograms, ({ remove }) => remove());
  project.provide('programs', value.folder);
  return letGo;
}
