import type { ListedRun } from './views.ts';

/** What a search of runs looks at. */
export type SearchedRun = Pick<ListedRun, 'run_id' | 'agent' | 'goal' | 'labels' | 'tenant'>;

/** Splits a search into the words that a run must contain, in lower case. */
export const searchWords = (search: string): string[] =>
  search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');

/** Whether id, agent, goal, labels and tenant of a run together contain every word. Upper and lower case are the same. */
export function matchesSearch(run: SearchedRun, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const text = [run.run_id, run.agent, run.goal, ...run.labels, run.tenant ?? ''].join(' ').toLowerCase();
  return words.every((word) => text.includes(word));
}
