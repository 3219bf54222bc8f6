import { type RefObject, useEffect, useRef, useState } from 'react';
import { ConfirmDialog } from '../parts/dialog.tsx';
import { ProblemNotice } from '../parts/problem.tsx';
import { Inline, TextBlock } from '../parts/text.tsx';
import { Ago } from '../parts/times.tsx';
import { Link, setQuery, usePlace } from '../shell/router.tsx';
import { useSession } from '../shell/session.ts';
import { useAsked } from '../shell/use-asked.ts';
import { TrialPlot, type TrialShown } from './trial-plot.tsx';

export type LessonStatus = 'candidate' | 'proven' | 'quarantined' | 'superseded';
export interface Lesson {
  id: number;
  agent: string | null;
  tenant: string | null;
  content: string;
  rationale: string;
  pinned: boolean;
  status: LessonStatus;
  superseded_because: string | null;
  occurrence_count: number;
}
interface Evidence extends Lesson {
  retired: boolean;
  tools: string[];
  fingerprint: string | null;
  errors: { tool_name: string | null; error_code: string | null; text: string; fingerprint: string | null }[];
  created_at: string;
  trial: TrialShown | null;
  occurrences: { run_id: string | null; at: string }[];
  runs: { run_id: string; shown: boolean; ok: boolean; at: string }[];
  revisions: { id: number; action: string; by: string; reason: string | null; created_at: string }[];
}
type Action = 'pin' | 'unpin' | 'retire' | 'restore' | 'edit';

/** One lesson with its trial. Its evidence is asked for when the card comes into view, because a list can be long. */
export function LessonCard({ lesson }: { lesson: Lesson }) {
  const { client, role } = useSession();
  const card = useRef<HTMLLIElement>(null);
  const isSeen = useSeen(card);
  const { query } = usePlace();
  const [action, setAction] = useState<Action | null>(null);
  const evidence = useAsked(
    async (signal) =>
      isSeen ? (await client.api.ask<Evidence>('GET', `/v1/reflections/${lesson.id}`, { signal })).body : undefined,
    [client, lesson.id, isSeen],
  );
  const shown: Lesson & Partial<Evidence> = evidence.data ?? lesson;
  const isRetired = shown.retired === true;
  const isOpen = query.get('lesson') === String(lesson.id);
  const mayAct = role === 'operator';
  const button = (name: Action, word: string) => (
    <button
      className="button small"
      type="button"
      disabled={!mayAct}
      title={mayAct ? undefined : `Your token has the role ${role}. This needs the role operator.`}
      onClick={() => setAction(name)}
    >
      {word}
    </button>
  );
  return (
    <li ref={card} className={`card lesson ${isRetired ? 'retired' : ''}`}>
      <div className="lesson-text">
        <p>
          <Inline text={shown.content} max={1_000} />
        </p>
        <p className="small faint">
          {shown.agent ?? 'all agents'}
          {shown.tenant !== null && ` · ${shown.tenant}`} · learnt {times(shown.occurrence_count)}
          {shown.pinned && ' · pinned'}
          {isRetired && ' · retired'}
        </p>
        {shown.superseded_because !== null && (
          <p className="small soft">
            <Inline text={shown.superseded_because} max={300} />
          </p>
        )}
      </div>
      {evidence.data === undefined ? <div className="trial" /> : <TrialPlot trial={evidence.data.trial} />}
      <div className="row wrap lesson-actions">
        {shown.pinned ? button('unpin', 'Unpin') : button('pin', 'Pin')}
        {button('edit', 'Edit')}
        {isRetired ? button('restore', 'Restore') : button('retire', 'Retire')}
        <button
          className="button small plain"
          type="button"
          aria-expanded={isOpen}
          onClick={() => setQuery({ lesson: isOpen ? '' : String(lesson.id) })}
        >
          Evidence
        </button>
      </div>
      {isOpen && evidence.data !== undefined && <EvidenceOf evidence={evidence.data} />}
      {evidence.error !== undefined && <ProblemNotice error={evidence.error} />}
      {action !== null && (
        <ReviseDialog action={action} lesson={shown} onClose={() => setAction(null)} onDone={evidence.reload} />
      )}
    </li>
  );
}

/** Which runs saw the lesson, where it comes from, and what people did with it. */
function EvidenceOf({ evidence }: { evidence: Evidence }) {
  const byRun = new Map(evidence.occurrences.map(({ run_id, at }) => [run_id, at]));
  const taught = [...byRun].flatMap(([run_id, at]) => (run_id === null ? [] : [{ run_id, at }]));
  return (
    <div className="lesson-evidence stack">
      <div>
        <h3>As the model reads it</h3>
        <TextBlock text={evidence.content} label="The lesson" />
      </div>
      {evidence.fingerprint !== null && (
        <p className="small">
          Learnt from the failure{' '}
          <Link to={`/failures?fingerprint=${encodeURIComponent(evidence.fingerprint)}`}>{evidence.fingerprint}</Link>
        </p>
      )}
      {evidence.errors.length > 0 && (
        <div>
          <h3>Errors that it was learnt from</h3>
          <ul className="small">
            {evidence.errors.map(({ tool_name, error_code, text }) => (
              <li key={`${tool_name} ${error_code} ${text}`}>
                <Inline text={[tool_name, error_code, text].filter(Boolean).join(' · ')} max={300} />
              </li>
            ))}
          </ul>
        </div>
      )}
      <div className="lesson-runs">
        <RunList
          title="Runs that saw it"
          none="No run has seen it yet."
          runs={evidence.runs.filter((run) => run.shown)}
        />
        <RunList
          title="Runs from which it was withheld"
          none="It was withheld from no run."
          runs={evidence.runs.filter((run) => !run.shown)}
        />
        <RunList title="Runs that taught it" none="A person wrote it." runs={taught} />
      </div>
      {evidence.revisions.length > 0 && (
        <div>
          <h3>What people did</h3>
          <ul className="small">
            {evidence.revisions.map((revision) => (
              <li key={revision.id}>
                <Ago iso={revision.created_at} now={Date.now()} />: {revision.action} by{' '}
                <Inline text={revision.by} max={80} />
                {revision.reason !== null && revision.reason !== '' && (
                  <>
                    {' '}
                    (<Inline text={revision.reason} max={300} />)
                  </>
                )}
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}

interface RunListProps {
  title: string;
  none: string;
  runs: { run_id: string; at: string; ok?: boolean }[];
}

const RunList = ({ title, none, runs }: RunListProps) => (
  <section aria-label={title}>
    <h3>
      {title} {runs.length > 0 && <span className="faint">{runs.length}</span>}
    </h3>
    {runs.length === 0 && <p className="small faint">{none}</p>}
    <ul className="small run-links">
      {runs.map(({ run_id, at, ok }) => (
        <li key={run_id}>
          <Link className="cut" to={`/runs/${encodeURIComponent(run_id)}`}>
            {run_id}
          </Link>
          <span className="faint">
            {ok !== undefined && (ok ? '✓ succeeded, ' : '✕ failed, ')}
            <Ago iso={at} now={Date.now()} />
          </span>
        </li>
      ))}
    </ul>
  </section>
);

const times = (count: number): string => (count === 1 ? 'once' : `${count} times`);

/** True from the moment when an element comes near the window. */
function useSeen(element: RefObject<HTMLElement | null>): boolean {
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    if (element.current === null || isSeen) return undefined;
    const watcher = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true);
      },
      { rootMargin: '400px' },
    );
    watcher.observe(element.current);
    return () => watcher.disconnect();
  }, [element, isSeen]);
  return isSeen;
}

const TITLES: Record<Action, [title: string, explain: string]> = {
  pin: ['Pin this lesson?', 'Every matching run sees it, without a trial.'],
  unpin: ['Unpin this lesson?', 'Its trial decides again which runs see it.'],
  retire: ['Retire this lesson?', 'No run sees it any more. It can be restored.'],
  restore: ['Restore this lesson?', 'Matching runs see it again.'],
  edit: ['Edit this lesson', 'Runs see the new text. Earlier texts are kept.'],
};

interface ReviseDialogProps {
  action: Action;
  lesson: Lesson;
  onClose: () => void;
  onDone: () => void;
}

function ReviseDialog({ action, lesson, onClose, onDone }: ReviseDialogProps) {
  const { client } = useSession();
  const [content, setContent] = useState(lesson.content);
  const [reason, setReason] = useState('');
  const [title, explain] = TITLES[action];
  const send = async (by: string): Promise<void> => {
    const body = { action, by, ...(action === 'edit' && { content }), ...(reason.trim() !== '' && { reason }) };
    await client.api.ask('POST', `/v1/reflections/${lesson.id}/revisions`, { body });
    onDone();
  };
  return (
    <ConfirmDialog
      title={title}
      confirm={action === 'edit' ? 'Save' : action.slice(0, 1).toUpperCase() + action.slice(1)}
      isDangerous={action === 'retire'}
      onClose={onClose}
      onConfirm={send}
    >
      <p className="soft">{explain}</p>
      {action === 'edit' && (
        <label className="field">
          <span>Text</span>
          <textarea
            className="input"
            rows={5}
            required
            value={content}
            onChange={(event) => setContent(event.target.value)}
          />
        </label>
      )}
      <label className="field">
        <span>Reason (optional)</span>
        <textarea className="input" rows={2} value={reason} onChange={(event) => setReason(event.target.value)} />
      </label>
    </ConfirmDialog>
  );
}
