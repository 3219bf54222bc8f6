/** One stack for a whole test run. Vitest does not call this for `--project unit`. */
import type { TestProject } from 'vitest/node';
import { provideStack } from './provide-stack.ts';

export default (project: TestProject): Promise<() => Promise<void>> => provideStack(project, 'fast');
