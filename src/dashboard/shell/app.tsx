import { lazy, Suspense, useCallback, useEffect, useMemo, useState } from 'react';
import { ProblemNotice } from '../parts/problem.tsx';
import { RunsPage } from '../runs/runs-page.tsx';
import { FollowAllEvents } from './all-events.tsx';
import { KeepQuestions } from './open-questions.tsx';
import { Link, usePlace } from './router.tsx';
import {
  forgetToken,
  isSignedOut,
  keepToken,
  openSession,
  type Session,
  SessionContext,
  takeToken,
} from './session.ts';
import { SignIn } from './sign-in.tsx';
import { TopBar } from './top-bar.tsx';

/** Pages that are not the first view are loaded when they are opened. */
const loadRunPage = () => import('../run/run-page.tsx');
const RunPage = lazy(loadRunPage);
// The page of a run is loaded while the token is checked, because most links lead to one.
if (location.pathname.includes('/runs/')) void loadRunPage().catch(() => {});
const FailuresPage = lazy(() => import('../memory/failures-page.tsx'));
const LessonsPage = lazy(() => import('../memory/lessons-page.tsx'));
const HelpPage = lazy(() => import('../help/help-page.tsx'));
const InboxPage = lazy(() => import('../inbox/inbox-page.tsx'));

type Entry =
  | { at: 'opening' }
  | { at: 'signed-out'; reason?: string }
  | { at: 'broken'; error: unknown }
  | { at: 'in' };

/** Signs in with the token of the link, then shows the page that the address names. */
export function App() {
  const [token, setToken] = useState(takeToken);
  const [entry, setEntry] = useState<Entry>({ at: 'opening' });
  const [opened, setOpened] = useState<Awaited<ReturnType<typeof openSession>> | null>(null);

  const leave = useCallback((reason?: string) => {
    forgetToken();
    setOpened(null);
    setToken(null);
    setEntry(reason === undefined ? { at: 'signed-out' } : { at: 'signed-out', reason });
  }, []);

  useEffect(() => {
    // A link with another token may be opened in the same tab.
    const look = (): void => setToken(takeToken());
    addEventListener('hashchange', look);
    return () => removeEventListener('hashchange', look);
  }, []);

  const open = useCallback(async () => {
    if (token === null) return setEntry((before) => (before.at === 'signed-out' ? before : { at: 'signed-out' }));
    setEntry({ at: 'opening' });
    try {
      setOpened(await openSession(token));
      setEntry({ at: 'in' });
    } catch (error) {
      if (isSignedOut(error)) leave('This token is unknown or no longer valid.');
      else setEntry({ at: 'broken', error });
    }
  }, [token, leave]);
  useEffect(() => void open(), [open]);

  const session = useMemo<Session | null>(
    () => (opened === null ? null : { client: opened.client, ...opened.facts, leave }),
    [opened, leave],
  );
  const enter = (given: string): void => {
    keepToken(given);
    setToken(given);
  };

  if (entry.at === 'signed-out') return <SignIn reason={entry.reason} onToken={enter} />;
  if (entry.at === 'broken') {
    return (
      <main className="sign-in">
        <ProblemNotice error={entry.error} onRetry={() => void open()} />
      </main>
    );
  }
  if (session === null) return <main aria-busy="true" />;
  return (
    <SessionContext value={session}>
      <FollowAllEvents>
        <KeepQuestions>
          <div className="shell">
            <TopBar />
            <Suspense fallback={<main aria-busy="true" />}>
              <Page />
            </Suspense>
          </div>
        </KeepQuestions>
      </FollowAllEvents>
    </SessionContext>
  );
}

function Page() {
  const { path } = usePlace();
  const run = /^\/runs\/([^/]+)$/.exec(path)?.[1];
  if (path === '/' || path === '/runs') return <RunsPage />;
  if (run !== undefined) return <RunPage key={run} runId={decodeURIComponent(run)} />;
  if (path === '/inbox') return <InboxPage />;
  if (path === '/failures') return <FailuresPage />;
  if (path === '/lessons') return <LessonsPage />;
  if (path === '/help') return <HelpPage />;
  return (
    <main>
      <div className="empty">
        <h1>There is no such page</h1>
        <p>
          <Link to="/">Go to the list of runs.</Link>
        </p>
      </div>
    </main>
  );
}
