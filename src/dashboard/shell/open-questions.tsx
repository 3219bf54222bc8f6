import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useRef } from 'react';
import type { AskedQuestion } from '../../client/views.ts';
import { useAllEvents } from './all-events.tsx';
import { useSession } from './session.ts';
import { useAsked } from './use-asked.ts';

interface OpenQuestions {
  /** Undefined until they are loaded. */
  questions: AskedQuestion[] | undefined;
  /** True if there are more than are loaded. */
  hasMore: boolean;
  error: unknown;
  reload: () => void;
}

const PAGE = 200;
/** Temporal lists a question a moment after the run has asked it, so the list is read again. */
const LOOKS_MS = [100, 600, 2_000];

const QuestionsContext = createContext<OpenQuestions | null>(null);

/** Keeps the open questions of all runs, for the inbox and for its count in the navigation. The list follows the events. */
export function KeepQuestions({ children }: { children: ReactNode }) {
  const { client } = useSession();
  const { data, error, reload } = useAsked(
    async (signal) => {
      const { questions, next_cursor } = await client.runs.questions({ limit: PAGE }, { signal });
      questions.sort((one, other) => Date.parse(one.deadline) - Date.parse(other.deadline));
      return { questions, hasMore: next_cursor !== null };
    },
    [client],
  );
  const timers = useRef<ReturnType<typeof setTimeout>[]>([]);
  const reloadSoon = useCallback(() => {
    for (const timer of timers.current) clearTimeout(timer);
    timers.current = LOOKS_MS.map((ms) => setTimeout(reload, ms));
  }, [reload]);
  useEffect(
    () => () => {
      for (const timer of timers.current) clearTimeout(timer);
    },
    [],
  );
  const open = data?.questions;
  useAllEvents((events) => {
    const isChanged = events.some(
      ({ event, run_id }) =>
        event === 'question_asked' ||
        event === 'answered' ||
        (event === 'run_ended' && open?.some((question) => question.run_id === run_id)),
    );
    if (isChanged) reloadSoon();
  });
  const value = useMemo(
    () => ({ questions: data?.questions, hasMore: data?.hasMore === true, error, reload: reloadSoon }),
    [data, error, reloadSoon],
  );
  return <QuestionsContext value={value}>{children}</QuestionsContext>;
}

/** The open questions, the most urgent first. */
export function useQuestions(): OpenQuestions {
  const kept = useContext(QuestionsContext);
  if (kept === null) throw new Error('useQuestions is called outside of KeepQuestions.');
  return kept;
}
