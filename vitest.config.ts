import { defineConfig } from 'vitest/config';
import { LongestWaitFirst } from './test/support/sequencer.ts';

const programs = './test/support/programs-setup.ts';
const sharedStack = './test/support/global-setup.ts';
const killing = { testTimeout: 180_000, hookTimeout: 60_000 };

/**
 * Slow by nature: they start whole stacks or processes of their own, or live thousands of runs. They have the stack that the quick
 * ones share too. `npm run test:slow` runs these, and what kills stacks.
 */
const SLOW = [
  'stack/cli-demo',
  'stack/cli-dev',
  'stack/cli-reviewer',
  'stack/encryption',
  'stack/enhancement-baseline',
  'stack/exact-runs',
  'stack/guarded-own-code',
  'stack/guarded-without-memory',
  'stack/history-deleted',
  'stack/hostile-on-temporal',
  'stack/long-conversation',
  'stack/loop-guard-killed',
  'stack/secrets-nowhere',
  'stack/stable-prompt',
  'stack/store-tenants',
  'stack/telemetry',
  'stack/telemetry-processes',
  'stack/temporal-cli',
  'unit/core/bound/runs-stay-inside',
  'unit/hook/doom-loop',
  'unit/hook/hook-command',
  'unit/testing/simulator/effects-twice',
].map((name) => `test/${name}.test.ts`);

/** The examples import the package by its name, as users do; here that is the source. */
const entry = (name: string): string => new URL(`./src/${name}.ts`, import.meta.url).pathname;
const alias = [
  { find: /^secondwind$/, replacement: entry('index') },
  { find: /^secondwind\/(guard|server|testing|workflow)$/, replacement: entry('$1') },
];

export default defineConfig({
  resolve: { alias },
  test: {
    pool: 'forks',
    // Measured on 2 cores: tests on the stack mostly wait for timers, so a third worker fills the gaps. All projects run
    // side by side; one with another number of workers, or without file parallelism, would run after all the others.
    maxWorkers: 3,
    // Files share processes: loading the same modules anew for each of them took a third of the time.
    isolate: false,
    sequence: { sequencer: LongestWaitFirst },
    // On a machine that is busy with something else, the default of one second is not enough for what comes eventually.
    expect: { poll: { timeout: 20_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          exclude: SLOW,
          globalSetup: programs,
          testTimeout: 30_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'stack',
          include: ['test/stack/**/*.test.ts'],
          exclude: SLOW,
          globalSetup: sharedStack,
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      { extends: true, test: { name: 'slow', include: SLOW, globalSetup: sharedStack, ...killing } },
      {
        extends: true,
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          exclude: ['test/browser/performance.test.ts'],
          globalSetup: [sharedStack, './test/browser/support/browser-setup.ts'],
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      // Runs after the others, because a browser that shares the processors with other tests is slower.
      {
        extends: true,
        test: {
          name: 'browser-alone',
          include: ['test/browser/performance.test.ts'],
          globalSetup: [sharedStack, './test/browser/support/browser-setup.ts'],
          sequence: { groupOrder: 1 },
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      // The frameworks are large, so they have a package.json of their own: `npm run test:frameworks` installs them.
      {
        extends: true,
        test: { name: 'frameworks', include: ['test/frameworks/*.test.ts'], testTimeout: 30_000 },
      },
      // Those that kill stacks have stacks of their own.
      {
        extends: true,
        test: { name: 'keeper', include: ['test/keeper/**/*.test.ts'], globalSetup: programs, ...killing },
      },
      {
        extends: true,
        test: {
          name: 'kill',
          include: ['test/kill/**/*.test.ts'],
          globalSetup: './test/support/kill-setup.ts',
          ...killing,
        },
      },
    ],
  },
});
