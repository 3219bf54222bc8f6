import { useState } from 'react';
import type { ListedDecision } from '../../protocol/guard-decisions.ts';
import { ConfirmDialog } from '../parts/dialog.tsx';
import { ProblemNotice } from '../parts/problem.tsx';
import { Inline } from '../parts/text.tsx';
import { Ago } from '../parts/times.tsx';
import { Link } from '../shell/router.tsx';
import { useSession } from '../shell/session.ts';
import { useAsked } from '../shell/use-asked.ts';

const KINDS: Record<ListedDecision['kind'], [word: string, tone: string, mark: string]> = {
  stall: ['stuck', 'warn', '↻'],
  escalation: ['escalation', 'live', '↑'],
  guardrail: ['guardrail', 'bad', '■'],
};
const ACTIONS: Record<ListedDecision['action'], string> = {
  observe: 'Only observed: the mode lets guards stop nothing.',
  guide: 'Further equal calls get guidance instead of an answer.',
  ask_human: 'A person was asked.',
  system_error: 'The run ended as a system error.',
  finalize: 'The run ended with its best result.',
};
const PAGE = 10;

interface DecisionsProps {
  agent: string | undefined;
  since: string;
  now: number;
  /** Called after a verdict, because the false-alarm rate follows from it. */
  onJudged: () => void;
}

/** What guards decided, each with a button for people who disagree. */
export function Decisions({ agent, since, now, onJudged }: DecisionsProps) {
  const { client } = useSession();
  const [size, setSize] = useState(PAGE);
  const asked = useAsked(
    (signal) => client.monitors.decisions({ agent, since, limit: Math.min(200, size) }, { signal }),
    [client, agent, since, size],
  );
  const judged = (): void => {
    asked.reload();
    onJudged();
  };
  const { decisions = [], next_cursor = null } = asked.data ?? {};
  return (
    <section aria-label="Decisions of guards">
      <h2>Decisions of guards</h2>
      <p className="small soft">
        If a guard was wrong, say so: the false-alarm rate follows from it, and it shows which rule needs other
        settings.
      </p>
      {asked.error !== undefined && <ProblemNotice error={asked.error} onRetry={asked.reload} />}
      {asked.data !== undefined && decisions.length === 0 && (
        <p className="card soft">No guard had to decide anything in this time.</p>
      )}
      <ul className={decisions.length === 0 ? '' : 'card decisions'}>
        {decisions.map((decision) => (
          <Decision
            key={`${decision.run_id} ${decision.decision_id}`}
            decision={decision}
            now={now}
            onJudged={judged}
          />
        ))}
      </ul>
      {next_cursor !== null && size < 200 && (
        <button className="button" type="button" onClick={() => setSize(size + 2 * PAGE)}>
          Show more
        </button>
      )}
    </section>
  );
}

interface DecisionProps {
  decision: ListedDecision;
  now: number;
  onJudged: () => void;
}

function Decision({ decision, now, onJudged }: DecisionProps) {
  const { role } = useSession();
  const [isAsking, setAsking] = useState(false);
  const { kind, rule, action, why, run_id, agent, step_id, verdict } = decision;
  const [word, tone, mark] = KINDS[kind];
  const mayAct = role === 'operator';
  const isWrong = verdict?.wrong === true;
  return (
    <li className={`decision ${isWrong ? 'wrong' : ''}`}>
      <div className="decision-what">
        <p className="row wrap">
          <span className={`badge ${tone}`} data-mark={mark}>
            {word}
          </span>
          <code>{rule}</code>
        </p>
        <p>
          <Inline text={sentence(why)} max={300} /> <span className="soft">{ACTIONS[action]}</span>
        </p>
        <p className="small faint">
          {agent === null ? 'elsewhere' : <Inline text={agent} max={80} />} ·{' '}
          {agent === null ? run_id : <Link to={`/runs/${encodeURIComponent(run_id)}`}>{run_id}</Link>}
          {step_id !== null && ` · step ${step_id}`} · <Ago iso={decision.at} now={now} />
        </p>
        {verdict !== null && (
          <p className={`small verdict ${isWrong ? 'wrong' : ''}`}>
            {isWrong ? 'Called wrong' : 'Called right'} by <Inline text={verdict.by} max={80} />,{' '}
            <Ago iso={verdict.at} now={now} />
            {verdict.reason !== null && (
              <>
                : <Inline text={verdict.reason} max={300} />
              </>
            )}
          </p>
        )}
      </div>
      <button
        className="button small"
        type="button"
        disabled={!mayAct}
        title={mayAct ? undefined : `Your token has the role ${role}. This needs the role operator.`}
        onClick={() => setAsking(true)}
      >
        {isWrong ? 'It was right after all' : 'This was wrong'}
      </button>
      {isAsking && (
        <JudgeDialog decision={decision} wrong={!isWrong} onClose={() => setAsking(false)} onDone={onJudged} />
      )}
    </li>
  );
}

const sentence = (text: string): string =>
  `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;

interface JudgeDialogProps {
  decision: ListedDecision;
  wrong: boolean;
  onClose: () => void;
  onDone: () => void;
}

function JudgeDialog({ decision, wrong, onClose, onDone }: JudgeDialogProps) {
  const { client } = useSession();
  const [reason, setReason] = useState('');
  const send = async (by: string): Promise<void> => {
    const given = reason.trim();
    await client.monitors.judge(decision, { wrong, by, ...(given !== '' && { reason: given }) });
    onDone();
  };
  return (
    <ConfirmDialog
      title={wrong ? 'Was this decision wrong?' : 'Was this decision right?'}
      confirm={wrong ? 'Yes, it was wrong' : 'Yes, it was right'}
      isDangerous={wrong}
      onClose={onClose}
      onConfirm={send}
    >
      <p className="soft">
        The decision stays as it is. Your word is kept with your name and the time, and counts in the false-alarm rate.
      </p>
      <label className="field">
        <span>Reason (optional)</span>
        <textarea
          className="input"
          rows={2}
          maxLength={1_000}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
      </label>
    </ConfirmDialog>
  );
}
