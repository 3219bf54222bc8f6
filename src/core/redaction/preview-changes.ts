import { defined, type Json } from '../../protocol/json.ts';
import type { EditedInput, InputChange } from '../../protocol/questions.ts';
import { lastName } from '../run/input-changes.ts';
import { type Redact, redactMember } from './redact.ts';

/** Changes as people may see them. A value is redacted beside the name of its member, as it is in the input itself. */
export const previewChanges = (changes: readonly InputChange[], redact: Redact): InputChange[] =>
  changes.map(({ path, from, to }) => {
    const shown = (value: Json | undefined): Json | undefined =>
      value === undefined ? undefined : redactMember(lastName(path), value, redact);
    return { path: redact(path), ...defined({ from: shown(from), to: shown(to) }) };
  });

export const previewEdit = (edited: EditedInput, redact: Redact): EditedInput => ({
  ...edited,
  changes: previewChanges(edited.changes, redact),
});
