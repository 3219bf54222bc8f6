import { useState } from 'react';
import icon from '../style/icon.svg';
import { useQuestions } from './open-questions.tsx';
import { Link, usePlace } from './router.tsx';
import { useSession } from './session.ts';
import { nextTheme, ownTheme } from './theme.ts';

const PAGES = [
  ['/', 'Runs'],
  ['/inbox', 'Inbox'],
  ['/failures', 'Known failures'],
  ['/lessons', 'Lessons'],
  ['/help', 'Does it help?'],
] as const;

export function TopBar() {
  const { path } = usePlace();
  const { leave, role } = useSession();
  const [theme, setTheme] = useState(ownTheme);
  const isAt = (page: string): boolean => (page === '/' ? path === '/' || path.startsWith('/runs') : path === page);
  return (
    <header className="top">
      <div className="top-inner">
        <Link to="/" className="brand" aria-label="Secondwind">
          <img src={icon} alt="" />
          <span>Secondwind</span>
        </Link>
        <nav className="nav" aria-label="Pages">
          {PAGES.map(([page, name]) => (
            <Link key={page} to={page} aria-current={isAt(page) ? 'page' : undefined}>
              {name}
              {page === '/inbox' && <InboxCount />}
            </Link>
          ))}
        </nav>
        <button className="button plain small" type="button" onClick={() => setTheme(nextTheme())}>
          <span className="hidden">Theme: </span>◐ {theme}
        </button>
        <button className="button plain small" type="button" title={`Your role: ${role}`} onClick={() => leave()}>
          Sign out
        </button>
      </div>
    </header>
  );
}

/** How many questions wait for a person. Nothing is shown for none. */
function InboxCount() {
  const { questions = [], hasMore } = useQuestions();
  if (questions.length === 0) return null;
  const count = `${questions.length}${hasMore ? '+' : ''}`;
  return (
    <span className="count" title={`${count} open ${questions.length === 1 ? 'question' : 'questions'}`}>
      {count}
      <span className="hidden"> open {questions.length === 1 ? 'question' : 'questions'}</span>
    </span>
  );
}
