import { fileURLToPath } from 'node:url';
import type { WorkerOptions } from '@temporalio/worker';

/** The examples import the package by its name, as users do; in the bundle of a test that is the source. */
export const exampleBundle: NonNullable<WorkerOptions['bundlerOptions']> = {
  webpackConfigHook: (config) => ({
    ...config,
    resolve: {
      ...config.resolve,
      alias: [
        ...aliasesOf(config.resolve?.alias),
        { name: 'secondwind/workflow$', alias: fileURLToPath(new URL('../../src/workflow.ts', import.meta.url)) },
      ],
    },
  }),
};

type Alias = { name: string; alias: string | false | string[] };

function aliasesOf(given: Record<string, string | false | string[]> | Alias[] | undefined): Alias[] {
  if (Array.isArray(given)) return given;
  return Object.entries(given ?? {}).map(([name, alias]) => ({ name, alias }));
}
