import { useCallback, useEffect, useRef, useState } from 'react';
import type { AskedQuestion } from '../../client/views.ts';
import type { Decision } from '../../protocol/questions.ts';
import { ProblemNotice } from '../parts/problem.tsx';
import { Inline } from '../parts/text.tsx';
import { useQuestions } from '../shell/open-questions.tsx';
import { Link, setQuery, usePlace } from '../shell/router.tsx';
import { QuestionCard } from './question-card.tsx';
import '../style/run.css';
import '../style/inbox.css';

/** The keys of the inbox, and what they do. */
const KEYS = [
  ['j / k', 'next and previous question'],
  ['a', 'approve'],
  ['e', 'edit the input, then approve'],
  ['d', 'deny'],
  ['Enter', 'send the answer'],
  ['Esc', 'back to the question'],
  ['?', 'show or hide this help'],
] as const;

/** Everything that waits for a person. */
export default function InboxPage() {
  const { query } = usePlace();
  const { questions, error, reload } = useQuestions();
  const [chosen, setChosen] = useState<Choice>();
  const [isHelp, setHelp] = useState(false);
  const wanted = query.get('question');
  const list = questions ?? [];
  const found = list.findIndex((question) => question.question_id === wanted);
  const index = found === -1 ? 0 : found;
  const current = list[index];

  useEffect(() => {
    document.title = `${list.length === 0 ? '' : `(${list.length}) `}Inbox · Secondwind`;
  }, [list.length]);

  const show = useCallback((question: AskedQuestion | undefined) => {
    setChosen(undefined);
    if (question !== undefined) setQuery({ question: question.question_id });
  }, []);
  useKeys((key) => {
    const choose = (option: Decision, isEditing = false): void => {
      if (current?.options.includes(option)) setChosen({ question: current.question_id, option, isEditing });
    };
    if (key === 'j') show(list[Math.min(index + 1, list.length - 1)]);
    else if (key === 'k') show(list[Math.max(index - 1, 0)]);
    else if (key === 'a') choose('approve');
    else if (key === 'e') choose('approve', true);
    else if (key === 'd') choose('deny');
    else if (key === 'Escape') setChosen(undefined);
    else if (key === '?') setHelp(!isHelp);
    else return false;
    return true;
  });

  return (
    <main className="inbox">
      <div className="row page-head">
        <h1 className="grow">Inbox</h1>
        <p className="faint small" role="status">
          {questions === undefined ? '' : list.length === 1 ? '1 question' : `${list.length} questions`}
        </p>
        <button className="button plain small" type="button" aria-expanded={isHelp} onClick={() => setHelp(!isHelp)}>
          Keys <kbd>?</kbd>
        </button>
      </div>
      {isHelp && (
        <dl className="card keys" aria-label="Keys">
          {KEYS.map(([key, meaning]) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{meaning}</dd>
            </div>
          ))}
        </dl>
      )}
      {error !== undefined && <ProblemNotice error={error} onRetry={reload} />}
      {questions !== undefined && list.length === 0 && (
        <div className="card empty">
          <h2>Nothing waits for you</h2>
          <p className="soft">
            A run asks before it does what needs approval, when it cannot know whether a side effect happened, and when
            its guardrails would end it. Its question appears here at once.
          </p>
        </div>
      )}
      {current !== undefined && (
        <div className="inbox-columns">
          <ol className="inbox-list card" aria-label="Questions">
            {list.map((question, position) => (
              <li key={question.question_id}>
                <button
                  type="button"
                  className="inbox-row"
                  aria-current={position === index ? 'true' : undefined}
                  onClick={() => show(question)}
                >
                  <strong className="cut">
                    <Inline text={question.goal || question.run_id} max={80} />
                  </strong>
                  <span className="small soft cut">
                    <Inline text={question.text} max={120} />
                  </span>
                </button>
              </li>
            ))}
          </ol>
          <div className="inbox-card">
            <p className="small soft">
              <Inline text={current.agent} max={60} /> ·{' '}
              <Link to={`/runs/${encodeURIComponent(current.run_id)}`}>
                <Inline text={current.goal || current.run_id} max={100} />
              </Link>
            </p>
            <QuestionCard
              key={current.question_id}
              runId={current.run_id}
              agent={current.agent}
              question={current}
              onAnswered={reload}
              chosen={chosen?.question === current.question_id ? chosen.option : undefined}
              isEditing={chosen?.isEditing === true}
              onChoose={(option, isEditing = false) =>
                setChosen(option === undefined ? undefined : { question: current.question_id, option, isEditing })
              }
            />
          </div>
        </div>
      )}
    </main>
  );
}

interface Choice {
  question: string;
  option: Decision;
  isEditing: boolean;
}

/** Calls `take` for keys that are not typed into a field. Escape also leaves a field. */
function useKeys(take: (key: string) => boolean): void {
  const taking = useRef(take);
  taking.current = take;
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.metaKey || event.ctrlKey || event.altKey) return;
      const isTyping = event.target instanceof HTMLElement && event.target.matches('input, textarea, select');
      if (isTyping && event.key !== 'Escape') return;
      if (taking.current(event.key)) event.preventDefault();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}
