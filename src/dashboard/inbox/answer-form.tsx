import { type FormEvent, useEffect, useRef, useState } from 'react';
import type { Json } from '../../protocol/json.ts';
import type { MessageBody } from '../../protocol/messages.ts';
import type { Decision, PendingQuestion } from '../../protocol/questions.ts';
import { NameField } from '../parts/dialog.tsx';
import { ProblemNotice } from '../parts/problem.tsx';
import { keepOwnName, ownName, useSession } from '../shell/session.ts';
import { useAsked } from '../shell/use-asked.ts';
import { InputForm } from './input-form.tsx';

export const NAMES: Record<Decision, string> = {
  approve: 'Approve',
  deny: 'Deny',
  done: 'It was done',
  not_done: 'It was not done',
  retry: 'Retry',
  skip: 'Skip the step',
  stop: 'Stop the run',
  correct: 'Correct',
};

interface AnswerFormProps {
  runId: string;
  agent: string;
  question: PendingQuestion;
  decision: Decision;
  /** Opens with the input ready to be edited. */
  isEditing: boolean;
  onAnswered: () => void;
  onClose: () => void;
}

/** Sends an answer: with a note, with the output of a call that a person did, or with another input for a call. */
export function AnswerForm({ runId, agent, question, decision, isEditing, onAnswered, onClose }: AnswerFormProps) {
  const { client } = useSession();
  const [by, setBy] = useState(ownName);
  const [text, setText] = useState('');
  const [output, setOutput] = useState('');
  const [input, setInput] = useState(question.input);
  const [inputProblem, setInputProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const form = useRef<HTMLFormElement>(null);
  const schema = useAsked((signal) => toolSchema(client, agent, question.tool, signal), [client, agent, question.tool]);
  useEffect(() => {
    const first = isEditing ? 'fieldset input, fieldset textarea' : 'button[type=submit]';
    form.current?.querySelector<HTMLElement>(first)?.focus();
  }, [isEditing, schema.data]);
  // A shortened input cannot be edited: what is not shown would be lost.
  const isEditable = decision === 'approve' && question.input !== undefined && question.input_chars === undefined;
  const isChanged = isEditable && JSON.stringify(input) !== JSON.stringify(question.input);

  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      const answer: MessageBody<'answer'> & { input?: Json } = {
        question_id: question.question_id,
        decision,
        by: by.trim(),
        ...(text.trim() !== '' && { text }),
        ...(decision === 'done' && output.trim() !== '' && { output: JSON.parse(output) as Json }),
        ...(isChanged && input !== undefined && { input }),
      };
      const taken = await client.runs.answer(runId, answer);
      if (!taken.accepted) throw new Error(taken.reason ?? 'The run did not accept the answer.');
      keepOwnName(by);
      onAnswered();
    } catch (failed) {
      setError(failed);
      setBusy(false);
    }
  };
  return (
    <form ref={form} className="stack answer-form" onSubmit={(event) => void submit(event)}>
      {isEditable && input !== undefined && schema.data !== undefined && (
        <InputForm schema={schema.data ?? undefined} value={input} onChange={setInput} onProblem={setInputProblem} />
      )}
      <label className="field">
        <span>{decision === 'correct' ? 'What to do instead' : 'Note (optional)'}</span>
        <textarea
          className="input"
          rows={decision === 'correct' ? 4 : 2}
          required={decision === 'correct'}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      {decision === 'done' && (
        <label className="field">
          <span>What the call gave, as JSON (optional)</span>
          <textarea className="input" rows={3} value={output} onChange={(event) => setOutput(event.target.value)} />
        </label>
      )}
      <NameField value={by} onChange={setBy} />
      {error !== undefined && <ProblemNotice error={error} />}
      {inputProblem !== undefined && <p className="bad-text">{inputProblem}</p>}
      <div className="row">
        <button className="button main" type="submit" disabled={isBusy || inputProblem !== undefined}>
          {NAMES[decision]}
          {isChanged ? ' with the changed input' : ''}: send
        </button>
        <button className="button" type="button" onClick={onClose}>
          Back
        </button>
      </div>
    </form>
  );
}

type Client = ReturnType<typeof useSession>['client'];

/** The input schema of a tool, or null if this API does not know the tool. */
async function toolSchema(client: Client, agent: string, tool: string | undefined, signal: AbortSignal) {
  if (tool === undefined) return null;
  type Agents = { agents: { name: string; tools: { name: string; input_schema: Json }[] }[] };
  const { body } = await client.api.ask<Agents>('GET', '/v1/agents', { signal });
  const own = body.agents.find(({ name }) => name === agent);
  return own?.tools.find(({ name }) => name === tool)?.input_schema ?? null;
}
