export { problemsOfPolicy } from './check-policy.ts';
export { mergePolicy } from './merge-policy.ts';
export { tightened } from './tighten.ts';
