import { useState } from 'react';
import { ProblemNotice } from '../parts/problem.tsx';
import { clockTime } from '../parts/times.tsx';
import { PromptDifference, usePrompts } from './prompt-difference.tsx';

/** Every request to the model, and how it differs from the one before. */
export function PromptsTab({ runId, version }: { runId: string; version: number }) {
  const { prompts, error } = usePrompts(runId, version);
  const [chosen, setChosen] = useState<number>();
  if (error !== undefined) return <ProblemNotice error={error} />;
  if (prompts === null) return <p className="faint empty">This run talks to no model, so it sent no prompts.</p>;
  if (prompts === undefined) return <p className="faint empty">Loading…</p>;
  const last = prompts.at(-1);
  if (last === undefined) return <p className="faint empty">Nothing was sent to the model yet.</p>;
  const request = chosen ?? last.request;
  return (
    <div className="card stack">
      <label className="row wrap">
        <span className="soft">What the model was sent with</span>
        <select
          className="input"
          value={request}
          aria-label="Request to the model"
          onChange={(event) => setChosen(Number(event.target.value))}
        >
          {prompts.map((prompt) => (
            <option key={prompt.request} value={prompt.request}>
              request {prompt.request}: turn {prompt.turn}
              {prompt.attempt > 1 ? `, attempt ${prompt.attempt}` : ''}, {clockTime(prompt.at)}
            </option>
          ))}
        </select>
      </label>
      <PromptDifference key={request} runId={runId} request={request} />
    </div>
  );
}
