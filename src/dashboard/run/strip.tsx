import { type KeyboardEvent, memo, useRef } from 'react';
import { stripSize, symbolOf } from '../../core/strip/strip-marks.ts';
import { Inline, visibleText } from '../parts/text.tsx';
import { type KnownFailure, type Mark, type Pass, type RunModel, sentenceOf } from './run-model.ts';

export interface Selected {
  step_id: number;
  attempt: number;
}

interface StripProps {
  model: RunModel;
  selected: Selected | null;
  onSelect: (selected: Selected) => void;
}

/** The run at a glance: one line per pass, one square per attempt. */
export const Strip = memo(({ model, selected, onSelect }: StripProps) => {
  const box = useRef<HTMLDivElement>(null);
  const marks = model.passes.reduce((sum, pass) => sum + pass.marks.length, 0);
  const size = stripSize(marks);
  const letters = new Map(model.failures.map((failure) => [failure.fingerprint, failure]));
  const focusable = selected ?? firstAttempt(model);

  /** Arrow keys move between squares; only one of them is in the tab order. */
  const move = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const squares = [...(box.current?.querySelectorAll<HTMLButtonElement>('button.mark') ?? [])];
    squares[squares.indexOf(document.activeElement as HTMLButtonElement) + step]?.focus();
  };

  return (
    <section className={`card strip ${size}`} aria-label="Attempts">
      <div ref={box} className="strip-lines" role="group" aria-label="One square per attempt" onKeyDown={move}>
        {model.passes.map((pass, index) => (
          <div className="strip-line" key={pass.loop_id}>
            <span className="strip-name">pass {index + 1}</span>
            <div className="strip-marks">
              {groupsOf(pass).map((group) => (
                <div className="strip-group" key={group.key}>
                  <div className="strip-squares">
                    {group.marks.map((mark, position) => (
                      <Square
                        key={keyOf(mark, position)}
                        mark={mark}
                        known={mark.kind === 'attempt' ? letters.get(mark.fingerprint ?? '') : undefined}
                        isSelected={isSame(mark, selected)}
                        isFocusable={isSame(mark, focusable)}
                        onSelect={onSelect}
                      />
                    ))}
                  </div>
                  {size === 'large' && group.label !== '' && (
                    <span className="strip-label cut" title={group.label}>
                      {group.label}
                    </span>
                  )}
                </div>
              ))}
              {pass.decision !== null && size === 'large' && (
                <span className="strip-decision small faint" title={visibleText(pass.decision)}>
                  <Inline text={pass.decision} max={120} />
                </span>
              )}
            </div>
          </div>
        ))}
      </div>
      <Legend failures={model.failures} />
    </section>
  );
});

interface SquareProps {
  mark: Mark;
  known: KnownFailure | undefined;
  isSelected: boolean;
  isFocusable: boolean;
  onSelect: (selected: Selected) => void;
}

const Square = ({ mark, known, isSelected, isFocusable, onSelect }: SquareProps) => {
  const sentence = visibleText(sentenceOf(mark, known?.letter)).slice(0, 400);
  if (mark.kind !== 'attempt') {
    return (
      <span className={`sign ${mark.kind}`} role="img" aria-label={sentence} title={sentence}>
        {mark.kind === 'guidance' ? '◆' : mark.kind === 'wait' ? '◇' : mark.answer === null ? '?' : '✓?'}
      </span>
    );
  }
  return (
    <button
      type="button"
      className={`mark ${mark.outcome} ${mark.isWorkerLost ? 'lost' : ''} shade-${known?.shade ?? 0}`}
      aria-label={sentence}
      aria-pressed={isSelected}
      title={sentence}
      tabIndex={isFocusable ? 0 : -1}
      onClick={() => onSelect({ step_id: mark.step_id, attempt: mark.attempt })}
    >
      {mark.isWorkerLost ? '⌁' : symbolOf(mark.outcome, known?.letter)}
    </button>
  );
};

function Legend({ failures }: { failures: KnownFailure[] }) {
  return (
    <div className="legend">
      <ul aria-label="Failures of this run">
        {failures.slice(0, 8).map((failure) => (
          <li key={failure.fingerprint} className="row">
            <span className={`mark failed key shade-${failure.shade}`}>{failure.letter}</span>
            <span className="cut">
              <Inline text={failure.name} max={80} /> <span className="faint">×{failure.count}</span>
            </span>
          </li>
        ))}
        {failures.length > 8 && <li className="faint">and {failures.length - 8} more</li>}
      </ul>
      <p className="small faint signs">
        <span>
          <span className="sign guidance">◆</span> guidance
        </span>
        <span>
          <span className="sign wait">◇</span> wait
        </span>
        <span>
          <span className="sign question">?</span> question
        </span>
        <span>
          <span className="mark key lost">⌁</span> worker lost
        </span>
        <span>
          <span className="mark key ok">✓</span> done
        </span>
      </p>
    </div>
  );
}

interface Group {
  key: string;
  label: string;
  marks: Mark[];
}

/** Marks of one step stand together. Steps that run side by side are told apart by their step id. */
function groupsOf(pass: Pass): Group[] {
  const groups: Group[] = [];
  const byStep = new Map<number, Group>();
  for (const mark of pass.marks) {
    const step = mark.kind === 'question' ? null : mark.step_id;
    const known = step === null ? undefined : byStep.get(step);
    if (known !== undefined) {
      known.marks.push(mark);
      if (mark.kind === 'attempt') known.label = `${mark.step_id} ${mark.phase}`;
      continue;
    }
    const label = mark.kind === 'attempt' ? `${mark.step_id} ${mark.phase}` : '';
    const group = { key: step === null ? `${mark.kind}-${groups.length}` : `step-${step}`, label, marks: [mark] };
    groups.push(group);
    if (step !== null) byStep.set(step, group);
  }
  return groups;
}

const keyOf = (mark: Mark, position: number): string =>
  mark.kind === 'attempt' ? `attempt-${mark.step_id}-${mark.attempt}` : `${mark.kind}-${position}`;

const isSame = (mark: Mark, selected: Selected | null): boolean =>
  mark.kind === 'attempt' && mark.step_id === selected?.step_id && mark.attempt === selected.attempt;

const firstAttempt = (model: RunModel): Selected | null =>
  model.passes.flatMap((pass) => pass.marks).find((mark) => mark.kind === 'attempt') ?? null;
