export { mergePolicy } from './merge-policy.ts';
export { tightened } from './tighten.ts';
