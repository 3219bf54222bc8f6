import { useState } from 'react';
import type { Json } from '../../protocol/json.ts';

/* oxlint-disable no-control-regex -- control characters are what these patterns are about */
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;
/** Characters that change the direction of text, or that nobody can see. */
const UNSEEN = /[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;
/* oxlint-enable no-control-regex */

const codePoint = (character: string): string =>
  `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`;

/** Makes every character visible that could hide or reorder text. React shows the rest as text and never as markup. */
export const visibleText = (text: string): string =>
  text.replaceAll('\r\n', '\n').replace(CONTROL, codePoint).replace(UNSEEN, codePoint);

/** The most that is laid out at once. A megabyte in one block would stop the page for seconds. */
const BLOCK_CHARS = 20_000;

/** A text of a tool, a model or a person, as it is. */
export function TextBlock({ text, label }: { text: string; label: string }) {
  const [shown, setShown] = useState(BLOCK_CHARS);
  const rest = text.length - shown;
  return (
    <div>
      <pre className="text-block" tabIndex={0} role="region" aria-label={label}>
        {visibleText(text.slice(0, shown))}
      </pre>
      {rest > 0 && (
        <button className="button plain small" type="button" onClick={() => setShown(shown + 10 * BLOCK_CHARS)}>
          Show more ({rest.toLocaleString('en')} characters left)
        </button>
      )}
    </div>
  );
}

/** A value as JSON; a text as it is. */
export function ValueBlock({ value, label }: { value: Json | undefined; label: string }) {
  const text = value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return text === '' ? <p className="faint">empty</p> : <TextBlock text={text} label={label} />;
}

/** A short text in a line. */
export const Inline = ({ text, max = 300 }: { text: string; max?: number }) => (
  <bdi>{visibleText(text.length > max ? `${text.slice(0, max)}…` : text)}</bdi>
);

/** A text with a button that copies it. */
export function Copyable({ text, label }: { text: string; label: string }) {
  const [isCopied, setCopied] = useState(false);
  return (
    <div className="row copyable">
      <code className="grow cut">{text}</code>
      <button
        className="button small"
        type="button"
        aria-label={`Copy ${label}`}
        onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}
      >
        {isCopied ? 'Copied' : 'Copy'}
      </button>
    </div>
  );
}
