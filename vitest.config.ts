import { defineConfig } from 'vitest/config';

const sharedStack = './test/support/global-setup.ts';
const programs = './test/support/programs-setup.ts';
const killing = { fileParallelism: false, testTimeout: 180_000, hookTimeout: 60_000 };

export default defineConfig({
  test: {
    pool: 'forks',
    // Measured on 2 cores: tests on the stack mostly wait for timers, so a third worker fills the gaps.
    maxWorkers: 3,
    // Files share processes: loading the same modules for each file took a third of the time.
    isolate: false,
    projects: [
      {
        extends: true,
        test: { name: 'unit', include: ['test/unit/**/*.test.ts'], globalSetup: programs, testTimeout: 30_000 },
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
      // Those that kill stacks of their own have a lane beside the others.
      {
        extends: true,
        test: { name: 'keeper', include: ['test/keeper/**/*.test.ts'], globalSetup: programs, ...killing },
      },
      // Those that kill on the shared stack, and measure seconds, run alone after everything else.
      {
        extends: true,
        test: {
          name: 'kill',
          include: ['test/kill/**/*.test.ts'],
          globalSetup: sharedStack,
          ...killing,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
