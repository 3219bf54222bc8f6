import { useState } from 'react';
import type { Decision, PendingQuestion, QuestionBudget } from '../../protocol/questions.ts';
import { Inline, TextBlock, ValueBlock } from '../parts/text.tsx';
import { duration, useNow } from '../parts/times.tsx';
import { useSession } from '../shell/session.ts';
import { AnswerForm, NAMES } from './answer-form.tsx';

interface QuestionCardProps {
  runId: string;
  agent: string;
  question: PendingQuestion;
  onAnswered: () => void;
  /** The answer that was chosen by a key, outside of the card. */
  chosen?: Decision | undefined;
  isEditing?: boolean;
  onChoose?: (decision: Decision | undefined, isEditing?: boolean) => void;
}

/** A question with everything that a person needs to decide, and the form that answers it. */
export function QuestionCard({ runId, agent, question, onAnswered, chosen, isEditing, onChoose }: QuestionCardProps) {
  const { role } = useSession();
  const [own, setOwn] = useState<Decision>();
  const decision = onChoose === undefined ? own : chosen;
  const choose = onChoose ?? setOwn;
  const mayAnswer = role === 'operator';
  const { choices, if_unanswered: otherwise, budget } = question;
  return (
    <article className="card question-card stack" aria-label="Question">
      <div className="row wrap">
        <h2 className="grow">
          <Inline text={question.text} max={2_000} />
        </h2>
        <Deadline deadline={question.deadline} />
      </div>
      {question.reason !== undefined && (
        <div>
          <h3>Why it wants to</h3>
          <TextBlock text={question.reason} label="The reason that the agent gave" />
        </div>
      )}
      {question.input !== undefined && decision !== 'approve' && (
        <div>
          <h3>
            Input{question.tool === undefined ? '' : ` of ${question.tool}`}
            {question.input_chars !== undefined && (
              <span className="faint"> (the beginning of {question.input_chars.toLocaleString('en')} characters)</span>
            )}
          </h3>
          <ValueBlock value={question.input} label="Input" />
        </div>
      )}
      {question.tried.length > 0 && (
        <div>
          <h3>What was tried</h3>
          <ol className="tried small">
            {question.tried.map((line) => (
              <li key={line}>
                <Inline text={line} max={400} />
              </li>
            ))}
          </ol>
        </div>
      )}
      <p className="small soft">{usedText(budget)}</p>
      <div className="choices" role="group" aria-label="Your answer">
        {question.options.map((option) => (
          <button
            key={option}
            type="button"
            className="choice"
            aria-pressed={decision === option}
            disabled={!mayAnswer}
            onClick={() => choose(option)}
          >
            <strong className={option === 'deny' || option === 'stop' ? 'danger' : ''}>{NAMES[option]}</strong>
            <span className="small soft">{choices.find((choice) => choice.option === option)?.does}</span>
          </button>
        ))}
      </div>
      <p className="small soft">
        If nobody answers: <strong>{NAMES[otherwise.decision]}</strong>. {otherwise.does}
      </p>
      {!mayAnswer && <p className="faint small">Your token has the role {role}. Answers need the role operator.</p>}
      {decision !== undefined && mayAnswer && (
        <AnswerForm
          key={`${decision}-${isEditing}`}
          runId={runId}
          agent={agent}
          question={question}
          decision={decision}
          isEditing={isEditing === true}
          onAnswered={onAnswered}
          onClose={() => choose(undefined)}
        />
      )}
    </article>
  );
}

function usedText({ used, limit, cost_known }: QuestionBudget): string {
  const of = (most: number | null): string => (most === null ? '' : ` of ${most}`);
  const cost = cost_known && used.cost_micro_usd > 0 ? `, $${(used.cost_micro_usd / 1_000_000).toFixed(4)}` : '';
  return `So far: ${used.attempts}${of(limit.attempts)} attempts, ${used.steps}${of(limit.steps)} steps${cost}.`;
}

function Deadline({ deadline }: { deadline: string }) {
  const now = useNow(true);
  const left = Date.parse(deadline) - now;
  return (
    <p className={`small ${left < 600_000 ? 'warn-text' : 'soft'}`}>
      <time dateTime={deadline} title={new Date(deadline).toLocaleString()}>
        {left > 0 ? `${duration(left)} left` : 'the deadline has passed'}
      </time>
    </p>
  );
}
