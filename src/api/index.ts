export type { ApiDeps, ApiLog } from './context.ts';
export { createApi } from './create-api.ts';
export { Problem } from './problem.ts';
export { type Fetching, serveApi, type ServedApi } from './serve.ts';
