import { useState } from 'react';
import type { Json } from '../../protocol/json.ts';

/** The parts of a JSON schema that the form understands. */
interface FieldSchema {
  type?: string;
  title?: string;
  description?: string;
  enum?: Json[];
  properties?: Record<string, FieldSchema>;
  required?: string[];
}
type Fields = Record<string, Json>;

interface InputFormProps {
  schema: Json | undefined;
  value: Json;
  onChange: (value: Json) => void;
  /** Called with a sentence while the text is no JSON, and with undefined when it is. */
  onProblem: (problem: string | undefined) => void;
}

/** Edits the input of a call: as a form made from the schema of the tool, or as JSON. */
export function InputForm({ schema, value, onChange, onProblem }: InputFormProps) {
  const fields = simpleFields(schema, value);
  const [isRaw, setRaw] = useState(fields === null);
  const [text, setText] = useState(() => JSON.stringify(value, null, 2));
  const write = (next: string): void => {
    setText(next);
    try {
      onChange(JSON.parse(next) as Json);
      onProblem(undefined);
    } catch {
      onProblem('The input is not valid JSON.');
    }
  };
  const swap = (): void => {
    setText(JSON.stringify(value, null, 2));
    onProblem(undefined);
    setRaw(!isRaw);
  };
  return (
    <fieldset className="input-form stack">
      <legend className="row">
        Input
        {fields !== null && (
          <button className="button plain small" type="button" onClick={swap}>
            {isRaw ? 'Edit as a form' : 'Edit as JSON'}
          </button>
        )}
      </legend>
      {isRaw || fields === null ? (
        <textarea
          className="input"
          aria-label="Input as JSON"
          rows={Math.min(20, text.split('\n').length + 1)}
          value={text}
          onChange={(event) => write(event.target.value)}
        />
      ) : (
        fields.map(([name, field]) => (
          <Field
            key={name}
            name={name}
            field={field}
            value={(value as Fields)[name]}
            onChange={(next) => onChange({ ...(value as Fields), [name]: next })}
          />
        ))
      )}
    </fieldset>
  );
}

/** The fields of an input that a form can show, or null if it is more than texts, numbers and choices. */
function simpleFields(schema: Json | undefined, value: Json): [string, FieldSchema][] | null {
  const { properties } = (schema ?? {}) as FieldSchema;
  if (properties === undefined || typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const entries = Object.entries(properties);
  const isSimple = (field: FieldSchema): boolean =>
    field.enum !== undefined || ['string', 'number', 'integer', 'boolean'].includes(field.type ?? '');
  const hasOthers = Object.keys(value).some((name) => !(name in properties));
  return entries.length === 0 || hasOthers || !entries.every(([, field]) => isSimple(field)) ? null : entries;
}

interface FieldProps {
  name: string;
  field: FieldSchema;
  value: Json | undefined;
  onChange: (value: Json) => void;
}

function Field({ name, field, value, onChange }: FieldProps) {
  const label = field.title ?? name;
  if (field.type === 'boolean') {
    return (
      <label className="row">
        <input type="checkbox" checked={value === true} onChange={(event) => onChange(event.target.checked)} />
        {label}
      </label>
    );
  }
  const isNumber = field.type === 'number' || field.type === 'integer';
  return (
    <label className="field">
      <span>
        {label}
        {field.description !== undefined && <span className="faint"> · {field.description}</span>}
      </span>
      {field.enum !== undefined ? (
        <select
          className="input"
          value={JSON.stringify(value ?? null)}
          onChange={(event) => onChange(JSON.parse(event.target.value) as Json)}
        >
          {field.enum.map((choice) => (
            <option key={JSON.stringify(choice)} value={JSON.stringify(choice)}>
              {typeof choice === 'string' ? choice : JSON.stringify(choice)}
            </option>
          ))}
        </select>
      ) : (
        <input
          className="input"
          type={isNumber ? 'number' : 'text'}
          step={field.type === 'integer' ? 1 : 'any'}
          value={typeof value === 'string' || typeof value === 'number' ? value : ''}
          onChange={(event) => onChange(isNumber ? event.target.valueAsNumber : event.target.value)}
        />
      )}
    </label>
  );
}
