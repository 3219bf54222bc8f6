/** A separate stack for tests that kill Temporal, Postgres or workers, with the product's durable settings. */
import type { TestProject } from 'vitest/node';
import { provideStack } from './provide-stack.ts';

export default (project: TestProject): Promise<() => Promise<void>> => provideStack(project, 'durable');
