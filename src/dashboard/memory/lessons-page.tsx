import { useEffect, useState } from 'react';
import { ConfirmDialog } from '../parts/dialog.tsx';
import { ProblemNotice } from '../parts/problem.tsx';
import { Inline, TextBlock } from '../parts/text.tsx';
import { Link, setQuery, usePlace } from '../shell/router.tsx';
import { useSession } from '../shell/session.ts';
import { useAsked } from '../shell/use-asked.ts';
import { SearchHead } from './search-head.tsx';
import { TrialPlot, type TrialShown } from './trial-plot.tsx';
import '../style/memory.css';

type Status = 'candidate' | 'proven' | 'quarantined' | 'superseded';
interface Lesson {
  id: number;
  agent: string | null;
  content: string;
  rationale: string;
  pinned: boolean;
  status: Status;
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
  revisions: { id: number; action: string; by: string; reason: string | null; created_at: string }[];
}
type Action = 'pin' | 'unpin' | 'retire' | 'restore' | 'edit';

const SECTIONS: [Status, string, string][] = [
  ['proven', 'Proven', 'Their trial showed that they help. One run in ten still does without, to keep measuring.'],
  ['candidate', 'Candidates', 'On probation: half of the matching runs see them, the other half does not.'],
  ['quarantined', 'Quarantined', 'Their trial showed that they harm. No run sees them.'],
  ['superseded', 'Superseded', 'The schema of their tool has changed. No run sees them until they are learnt again.'],
];

/** What the runs have learnt, and whether it helps. */
export default function LessonsPage() {
  const { client } = useSession();
  const { query } = usePlace();
  const search = query.get('q') ?? '';
  const asked = useAsked(
    async (signal) => {
      const options = { query: { limit: 200, ...(search !== '' && { q: search }) }, signal };
      return (await client.api.ask<{ reflections: Lesson[] }>('GET', '/v1/reflections', options)).body.reflections;
    },
    [client, search],
  );
  useEffect(() => {
    document.title = 'Lessons · Secondwind';
  }, []);
  const found = asked.data ?? [];
  return (
    <main>
      <SearchHead
        title="Lessons"
        status={asked.data === undefined ? '' : `${found.length} lessons`}
        label="Search lessons"
        placeholder="Search the lesson, its error, tool or code"
      />
      {asked.error !== undefined && <ProblemNotice error={asked.error} onRetry={asked.reload} />}
      {asked.data?.length === 0 && search !== '' && (
        <div className="card empty">
          <h2>No such lesson</h2>
          <p className="soft">
            No lesson has these words, and none was learnt from an error that has. Try fewer words.
          </p>
        </div>
      )}
      {asked.data?.length === 0 && search === '' && (
        <div className="card empty">
          <h2>No lessons yet</h2>
          <p className="soft">
            A lesson is what a failure taught and what worked. It is stored when an attempt succeeds after one that
            failed, and shown to later runs that fail in the same way.
          </p>
        </div>
      )}
      {SECTIONS.map(([status, title, meaning]) => {
        const own = found.filter((lesson) => lesson.status === status);
        return own.length === 0 ? null : (
          <section key={status} className="lesson-section" aria-label={title}>
            <h2>
              {title} <span className="faint">{own.length}</span>
            </h2>
            <p className="small soft">{meaning}</p>
            <ul className="stack">
              {own.map((lesson) => (
                <LessonCard key={lesson.id} lesson={lesson} />
              ))}
            </ul>
          </section>
        );
      })}
    </main>
  );
}

function LessonCard({ lesson }: { lesson: Lesson }) {
  const { client, role } = useSession();
  const { query } = usePlace();
  const [action, setAction] = useState<Action | null>(null);
  const evidence = useAsked(
    async (signal) => (await client.api.ask<Evidence>('GET', `/v1/reflections/${lesson.id}`, { signal })).body,
    [client, lesson.id],
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
    <li className={`card lesson ${isRetired ? 'retired' : ''}`}>
      <div className="lesson-text">
        <p>
          <Inline text={shown.content} max={1_000} />
        </p>
        <p className="small faint">
          {shown.agent ?? 'all agents'} · learnt {shown.occurrence_count} ×{shown.pinned && ' · pinned'}
          {isRetired && ' · retired'}
        </p>
        {shown.superseded_because !== null && (
          <p className="small soft">
            <Inline text={shown.superseded_because} max={300} />
          </p>
        )}
      </div>
      <TrialPlot trial={shown.trial ?? null} />
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

/** Where the lesson comes from, which runs saw it, and what people did with it. */
function EvidenceOf({ evidence }: { evidence: Evidence }) {
  const runs = evidence.occurrences.flatMap(({ run_id }) => (run_id === null ? [] : [run_id]));
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
      {runs.length > 0 && (
        <div>
          <h3>Runs that taught it</h3>
          <ul className="small run-links">
            {[...new Set(runs)].slice(0, 20).map((runId) => (
              <li key={runId}>
                <Link to={`/runs/${encodeURIComponent(runId)}`}>{runId}</Link>
              </li>
            ))}
          </ul>
        </div>
      )}
      {evidence.revisions.length > 0 && (
        <div>
          <h3>What people did</h3>
          <ul className="small">
            {evidence.revisions.map((revision) => (
              <li key={revision.id}>
                {new Date(revision.created_at).toLocaleString()}: {revision.action} by{' '}
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
