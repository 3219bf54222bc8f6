export { boundOfRun, computeBound } from './compute-bound.ts';
export { boundSentence } from './sentence.ts';
export { withinGrant } from './within-grant.ts';
