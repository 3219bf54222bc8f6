import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useRef, useState } from 'react';
import { type StreamedEvent, useEvents } from './follow-events.ts';

type Take = (events: StreamedEvent[]) => void;
interface AllEvents {
  subscribe: (take: Take) => () => void;
  isBroken: boolean;
}
const AllEventsContext = createContext<AllEvents>({ subscribe: () => () => {}, isBroken: false });

/** Follows the events of all runs once, for every part of the page, because a browser opens few connections to one server. */
export function FollowAllEvents({ children }: { children: ReactNode }) {
  const takers = useRef(new Set<Take>());
  const [isBroken, setBroken] = useState(false);
  useEvents('/v1/events', (events) => takers.current.forEach((take) => take(events)), setBroken);
  const subscribe = useCallback((take: Take) => {
    takers.current.add(take);
    return () => void takers.current.delete(take);
  }, []);
  const value = useMemo(() => ({ subscribe, isBroken }), [subscribe, isBroken]);
  return <AllEventsContext value={value}>{children}</AllEventsContext>;
}

/** Calls `take` with the events of all runs. Returns whether the stream is broken at the moment. */
export function useAllEvents(take: Take): boolean {
  const { subscribe, isBroken } = useContext(AllEventsContext);
  const taking = useRef(take);
  taking.current = take;
  useEffect(() => subscribe((events) => taking.current(events)), [subscribe]);
  return isBroken;
}
