export { computeBound } from './compute-bound.ts';
export { boundSentence, duration } from './sentence.ts';
