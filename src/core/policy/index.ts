export { mergePolicy } from './merge-policy.ts';
