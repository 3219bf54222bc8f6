/** The SDK's runtime is one for a process, and test files share processes: so it is set up here, once. */
import { DefaultLogger, Runtime } from '@temporalio/worker';

Runtime.install({ logger: new DefaultLogger('ERROR') });
