import { useCallback, useEffect, useRef } from 'react';
import type { AskedQuestion } from '../../client/views.ts';
import { useEvents } from '../shell/follow-events.ts';
import { useSession } from '../shell/session.ts';
import { useAsked } from '../shell/use-asked.ts';

const PAGE = 200;
/** Temporal lists a question a moment after the run has asked it, so the list is read again. */
const LOOKS_MS = [100, 600, 2_000];

/** The open questions, the most urgent first. The list follows the events of all runs. */
export function useQuestions(): { questions: AskedQuestion[] | undefined; error: unknown; reload: () => void } {
  const { client } = useSession();
  const { data, error, reload } = useAsked(
    async (signal) => {
      const { questions } = await client.runs.questions({ limit: PAGE }, { signal });
      return questions.sort((one, other) => Date.parse(one.deadline) - Date.parse(other.deadline));
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
  useEvents('/v1/events', (events) => {
    if (events.some(({ event }) => event === 'question_asked' || event === 'answered' || event === 'run_ended'))
      reloadSoon();
  });
  return { questions: data, error, reload: reloadSoon };
}
