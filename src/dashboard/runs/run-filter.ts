import { matchesSearch, searchWords } from '../../client/matches-search.ts';
import type { ListedRun, RunFilter } from '../../client/views.ts';
import type { RunLifeState, RunOutcome } from '../../protocol/run.ts';
import { defined } from '../../protocol/json.ts';

export const STATES: RunLifeState[] = ['running', 'backing_off', 'waiting_for_human', 'reviewing', 'stopping', 'ended'];
export const OUTCOMES: RunOutcome[] = ['completed', 'finalized', 'system_error', 'budget_exhausted', 'cancelled'];

/** Reads the filter of the list from the address, so that a link shows the same list to everybody. */
export const readFilter = (query: URLSearchParams): RunFilter =>
  defined({
    state: STATES.find((state) => state === query.get('state')),
    outcome: OUTCOMES.find((outcome) => outcome === query.get('outcome')),
    agent: query.get('agent') || undefined,
    label: query.get('label') || undefined,
    search: query.get('q')?.trim() || undefined,
  });

/** Whether a run belongs to the list with this filter. The server decides this for pages, and this function for live changes. */
export const fitsFilter = (run: ListedRun, { state, outcome, agent, label, search = '' }: RunFilter): boolean =>
  (state === undefined || run.state === state) &&
  (outcome === undefined || run.outcome === outcome) &&
  (agent === undefined || run.agent === agent) &&
  (label === undefined || run.labels.includes(label)) &&
  matchesSearch(run, searchWords(search));
