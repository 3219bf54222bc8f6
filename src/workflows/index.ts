export { agentRun } from './agent-run.ts';
export { loopGuard } from './loop-guard.ts';
export { saveArchive } from './save-archive.ts';
