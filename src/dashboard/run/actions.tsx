import { useState } from 'react';
import type { RunStatus } from '../../protocol/run.ts';
import { ConfirmDialog } from '../parts/dialog.tsx';
import { goTo } from '../shell/router.tsx';
import { useSession } from '../shell/session.ts';

type Action = 'cancel' | 'rerun' | 'override' | 'feedback';

/** What a person can do with a run. A token that may not do it sees the buttons disabled, with the reason. */
export function Actions({ status, onDone, onShare }: { status: RunStatus; onDone: () => void; onShare: () => void }) {
  const { role } = useSession();
  const [open, setOpen] = useState<Action | null>(null);
  const isOpen = status.state !== 'ended';
  const mayAct = role === 'operator';
  const why = mayAct ? undefined : `Your token has the role ${role}. This needs the role operator.`;
  const button = (action: Action, name: string, tone = '') => (
    <button className={`button ${tone}`} type="button" disabled={!mayAct} title={why} onClick={() => setOpen(action)}>
      {name}
    </button>
  );
  return (
    <div className="row wrap actions">
      {isOpen && button('cancel', 'Cancel', 'danger')}
      {button('rerun', 'Rerun')}
      {isOpen && button('override', 'Override')}
      {isOpen && button('feedback', 'Feedback')}
      <button className="button" type="button" onClick={onShare}>
        Share
      </button>
      {open !== null && <ActionDialog action={open} status={status} onClose={() => setOpen(null)} onDone={onDone} />}
    </div>
  );
}

interface ActionDialogProps {
  action: Action;
  status: RunStatus;
  onClose: () => void;
  onDone: () => void;
}

function ActionDialog({ action, status, onClose, onDone }: ActionDialogProps) {
  const { client } = useSession();
  const [text, setText] = useState('');
  const [fatigue, setFatigue] = useState(true);
  const [reruns, setReruns] = useState(true);
  const { run_id } = status;
  const reason = text.trim() === '' ? {} : { reason: text };
  const send = {
    cancel: async (by: string) => {
      await client.runs.cancel(run_id, { by, ...reason }, { waitMs: 5_000 });
    },
    rerun: async (by: string) => {
      const started = await client.runs.rerun(run_id, { by, ...reason });
      goTo(`/runs/${encodeURIComponent(started.run_id)}`);
    },
    override: async (by: string) => {
      await client.runs.override(run_id, {
        override_fatigue: fatigue,
        override_max_reruns: reruns,
        override_by: by,
        ...(text.trim() !== '' && { override_reason: text }),
      });
    },
    feedback: async (by: string) => {
      await client.runs.feedback(run_id, { by, text });
    },
  }[action];
  const confirm = async (by: string): Promise<void> => {
    await send(by);
    onDone();
  };
  return (
    <ConfirmDialog
      title={TITLES[action]}
      confirm={CONFIRM[action]}
      isDangerous={action === 'cancel'}
      onClose={onClose}
      onConfirm={confirm}
    >
      <p className="soft">{EXPLAIN[action]}</p>
      {action === 'override' && (
        <>
          <Check label="One more pass although fatigue would end the run" isOn={fatigue} onChange={setFatigue} />
          <Check label="One more pass although the limit of passes is reached" isOn={reruns} onChange={setReruns} />
        </>
      )}
      <label className="field">
        <span>{action === 'feedback' ? 'Feedback' : 'Reason (optional)'}</span>
        <textarea
          className="input"
          rows={3}
          required={action === 'feedback'}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
    </ConfirmDialog>
  );
}

const TITLES = {
  cancel: 'Cancel this run?',
  rerun: 'Start the run again?',
  override: 'Permit one more pass?',
  feedback: 'Send feedback to the run',
};
const CONFIRM = { cancel: 'Cancel the run', rerun: 'Start again', override: 'Permit', feedback: 'Send' };
const EXPLAIN = {
  cancel: 'Its work is stopped. What already happened stays as it is.',
  rerun: 'A new run with the same agent, goal, input, plan and policy starts.',
  override: 'A guardrail would end the run after this pass. An override permits exactly one more.',
  feedback: 'The next attempt and the next pass see it.',
};

const Check = ({ label, isOn, onChange }: { label: string; isOn: boolean; onChange: (isOn: boolean) => void }) => (
  <label className="row">
    <input type="checkbox" checked={isOn} onChange={(event) => onChange(event.target.checked)} />
    {label}
  </label>
);
