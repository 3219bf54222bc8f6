import { defineConfig } from 'vitest/config';

const sharedStack = './test/support/global-setup.ts';

export default defineConfig({
  test: {
    pool: 'forks',
    // The whole run is measured on 2 cores, and Temporal and Postgres want some of them.
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: { name: 'unit', include: ['test/unit/**/*.test.ts'] },
      },
      {
        extends: true,
        test: {
          name: 'stack',
          include: ['test/stack/**/*.test.ts'],
          globalSetup: sharedStack,
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          // Tests that kill processes measure seconds: one at a time, after everything else.
          name: 'kill',
          include: ['test/kill/**/*.test.ts'],
          globalSetup: sharedStack,
          fileParallelism: false,
          sequence: { groupOrder: 1 },
          testTimeout: 120_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
