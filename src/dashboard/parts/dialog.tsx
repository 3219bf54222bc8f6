import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { keepOwnName, ownName } from '../shell/session.ts';
import { ProblemNotice } from './problem.tsx';

interface DialogProps {
  title: string;
  confirm: string;
  isDangerous?: boolean;
  children?: ReactNode;
  onClose: () => void;
  /** Does it, with the name of the person for the audit. The dialog shows the error if it throws. */
  onConfirm: (by: string) => Promise<void>;
}

/** A modal question before something is done, with the name of the person who does it. */
export function ConfirmDialog({ title, confirm, isDangerous, children, onClose, onConfirm }: DialogProps) {
  const box = useRef<HTMLDialogElement>(null);
  const [by, setBy] = useState(ownName);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  useEffect(() => box.current?.showModal(), []);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    try {
      keepOwnName(by);
      await onConfirm(by.trim());
      onClose();
    } catch (failed) {
      setError(failed);
      setBusy(false);
    }
  };
  return (
    <dialog ref={box} aria-label={title} onClose={onClose}>
      <form className="stack" onSubmit={(event) => void submit(event)}>
        <h2>{title}</h2>
        {children}
        <NameField value={by} onChange={setBy} />
        {error !== undefined && <ProblemNotice error={error} />}
        <div className="row">
          <button className={`button ${isDangerous ? 'danger' : 'main'}`} type="submit" disabled={isBusy}>
            {confirm}
          </button>
          <button className="button" type="button" onClick={onClose}>
            Close
          </button>
        </div>
      </form>
    </dialog>
  );
}

export const NameField = ({ value, onChange }: { value: string; onChange: (name: string) => void }) => (
  <label className="field">
    <span>Your name, for the audit</span>
    <input
      className="input"
      required
      maxLength={100}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  </label>
);
