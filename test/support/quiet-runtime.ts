/** The SDK has one runtime per process, and test files share processes, so it is set up here once. */
import { DefaultLogger, Runtime } from '@temporalio/worker';

Runtime.install({ logger: new DefaultLogger('ERROR') });
