import { fileURLToPath } from 'node:url';
import type { WorkerOptions } from '@temporalio/worker';

const workflow = fileURLToPath(new URL('../../src/workflow.ts', import.meta.url));

/** The examples import the package by its name, as users do; in the bundle of a test that is the source. */
export const exampleBundle: NonNullable<WorkerOptions['bundlerOptions']> = {
  webpackConfigHook: (config) => {
    const alias = config.resolve?.alias ?? {};
    // The SDK gives its own aliases as an object, and only there a name may end with `$`.
    if (Array.isArray(alias)) throw new TypeError('expected the aliases of the SDK as an object');
    return { ...config, resolve: { ...config.resolve, alias: { ...alias, 'secondwind/workflow$': workflow } } };
  },
};
