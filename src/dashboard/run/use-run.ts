import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { RunEvent } from '../../client/history/run-event.ts';
import type { RunStatus } from '../../protocol/run.ts';
import { useEvents } from '../shell/follow-events.ts';
import { useSession } from '../shell/session.ts';
import { useAsked } from '../shell/use-asked.ts';
import { readRun, type RunModel } from './run-model.ts';

export interface LiveRun {
  status: RunStatus | undefined;
  error: unknown;
  model: RunModel;
  /** Grows with every batch of events, for parts that have to ask again. */
  version: number;
  isBroken: boolean;
  reload: () => void;
}

/** After an event the status is asked for once, and not for each event of a burst. */
const SETTLE_MS = 150;

/** A run with its events as they happen. */
export function useRun(runId: string): LiveRun {
  const { client } = useSession();
  const [events, setEvents] = useState<RunEvent[]>([]);
  const [isBroken, setBroken] = useState(false);
  const asked = useAsked((signal) => client.runs.get(runId, { signal }), [client, runId]);
  const { reload } = asked;
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const reloadSoon = useCallback(() => {
    clearTimeout(timer.current);
    timer.current = setTimeout(reload, SETTLE_MS);
  }, [reload]);
  useEffect(() => () => clearTimeout(timer.current), []);
  // The status of a run that has ended does not change, and its events come all at once.
  const isEnded = useRef(false);
  isEnded.current = asked.data?.state === 'ended';
  useEvents(
    asked.data === undefined && asked.error !== undefined ? null : `/v1/runs/${encodeURIComponent(runId)}/events`,
    (batch) => {
      setEvents((before) => [...before, ...batch]);
      if (!isEnded.current) reloadSoon();
    },
    setBroken,
  );
  const model = useMemo(() => readRun(events), [events]);
  return { status: asked.data, error: asked.error, model, version: events.length, isBroken, reload };
}
