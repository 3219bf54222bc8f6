import { useEffect, useState } from 'react';
import type { ListedRun } from '../../client/views.ts';
import { ProblemNotice } from '../parts/problem.tsx';
import { SearchBox } from '../parts/search-box.tsx';
import { stateWord } from '../parts/state-badge.tsx';
import { useNow } from '../parts/times.tsx';
import { VirtualList } from '../parts/virtual-list.tsx';
import { setQuery, usePlace } from '../shell/router.tsx';
import { useSession } from '../shell/session.ts';
import { useAsked } from '../shell/use-asked.ts';
import { OUTCOMES, readFilter, STATES } from './run-filter.ts';
import { RunRow } from './run-row.tsx';
import { StartDemo } from './start-demo.tsx';
import { type RunList, useRuns } from './use-runs.ts';

const ROW_PX = 56;
const PHONE_ROW_PX = 88;
/** A search goes on loading older runs until it has found so many. */
const ENOUGH = 50;

/** The live list of runs, with its filters in the address. */
export function RunsPage() {
  const { query } = usePlace();
  const filter = readFilter(query);
  const list = useRuns(filter);
  const now = useNow(true, 5_000);
  const isPhone = useIsPhone();
  const { runs } = list;
  const isFiltered = Object.keys(filter).length > 0;

  useEffect(() => {
    document.title = 'Runs · Secondwind';
  }, []);
  useEffect(() => {
    if (filter.search !== undefined && runs.length < ENOUGH) list.loadMore();
  });
  // At the top of the page nothing that a person reads can move away.
  useEffect(() => {
    if (list.arrived.length > 0 && scrollY < ROW_PX) list.showArrived();
  });

  const isEmpty = list.isComplete && runs.length === 0;
  return (
    <main>
      <div className="row wrap page-head">
        <h1 className="grow">Runs</h1>
        <p className="faint small" role="status">
          {list.isBroken
            ? 'Live updates are interrupted; connecting again…'
            : countText(list, filter.search !== undefined)}
        </p>
      </div>
      <Filters />
      {list.error !== undefined && <ProblemNotice error={list.error} onRetry={list.reload} />}
      {list.arrived.length > 0 && (
        <button className="button arrived" type="button" onClick={() => (list.showArrived(), scrollTo(0, 0))}>
          ↑ {list.arrived.length} new
        </button>
      )}
      {isEmpty && !isFiltered && <StartDemo />}
      {isEmpty && isFiltered && (
        <div className="card empty">
          <h2>No run fits</h2>
          <p>
            <button
              className="button"
              type="button"
              onClick={() => setQuery({ state: '', outcome: '', agent: '', label: '', q: '' })}
            >
              Clear the filters
            </button>
          </p>
        </div>
      )}
      {runs.length > 0 && (
        <div className="card list-card">
          <VirtualList
            label="Runs"
            count={runs.length}
            rowHeight={isPhone ? PHONE_ROW_PX : ROW_PX}
            keyOf={(index) => runs[index]?.run_id ?? ''}
            render={(index) => <RunRow run={runs[index] as ListedRun} now={now} />}
            onNearEnd={list.loadMore}
          />
        </div>
      )}
    </main>
  );
}

function countText({ runs, isComplete, isLoading }: RunList, isSearch: boolean): string {
  if (isSearch && isLoading && runs.length < ENOUGH) return 'Searching…';
  const count = `${runs.length.toLocaleString('en')}${isComplete ? '' : '+'} ${runs.length === 1 ? 'run' : 'runs'}`;
  return isSearch ? `${count} found` : count;
}

function Filters() {
  const { client } = useSession();
  const { query } = usePlace();
  const agents = useAsked(
    async (signal) => {
      const { body } = await client.api.ask<{ agents: { name: string }[] }>('GET', '/v1/agents', { signal });
      return body.agents.map(({ name }) => name);
    },
    [client],
  );
  const chosen = query.get('agent') ?? '';
  const names = new Set([...(agents.data ?? []), ...(chosen === '' ? [] : [chosen])]);
  return (
    <div className="filters" role="search">
      <SearchBox label="Search runs" placeholder="Search goal, agent, id, label or tenant" />
      <Choice name="state" label="State" choices={STATES.map((state) => [state, stateWord(state)])} />
      <Choice
        name="outcome"
        label="Outcome"
        choices={OUTCOMES.map((outcome) => [outcome, stateWord('ended', outcome)])}
      />
      <Choice name="agent" label="Agent" choices={[...names].map((name) => [name, name])} />
    </div>
  );
}

function Choice({ name, label, choices }: { name: string; label: string; choices: (readonly [string, string])[] }) {
  const { query } = usePlace();
  return (
    <select
      className="input"
      aria-label={label}
      value={query.get(name) ?? ''}
      onChange={(event) => setQuery({ [name]: event.target.value })}
    >
      <option value="">{label}: any</option>
      {choices.map(([value, word]) => (
        <option key={value} value={value}>
          {word}
        </option>
      ))}
    </select>
  );
}

function useIsPhone(): boolean {
  const [isPhone, setPhone] = useState(() => matchMedia('(max-width: 700px)').matches);
  useEffect(() => {
    const media = matchMedia('(max-width: 700px)');
    const look = (): void => setPhone(media.matches);
    media.addEventListener('change', look);
    return () => media.removeEventListener('change', look);
  }, []);
  return isPhone;
}
