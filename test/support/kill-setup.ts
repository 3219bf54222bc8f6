/** For tests that kill what others work on: a stack of their own, durable as the product's, so that they can run beside them. */
import type { TestProject } from 'vitest/node';
import { provideStack } from './provide-stack.ts';

export default (project: TestProject): Promise<() => Promise<void>> => provideStack(project, 'durable');
