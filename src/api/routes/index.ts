import type { Route } from '../route.ts';
import { aboutRoutes } from './about.ts';
import { alive, ready } from './health.ts';
import { runStatus, startRun } from './runs.ts';

const WORK: Route[] = [startRun, runStatus, alive, ready];

/** Every route of the API with the role it needs. What is not in here is not served. */
export const ROUTES: readonly Route[] = [...WORK, ...aboutRoutes(WORK)];
