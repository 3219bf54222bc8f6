import { useEffect, useState } from 'react';
import { setQuery, usePlace } from '../shell/router.tsx';

/** A list is asked for again only when the person pauses, and not with each letter. */
const PAUSE_MS = 200;

/** A search field whose words stay in the address, so that a link or a reload shows the same list. */
export function SearchBox({ label, placeholder }: { label: string; placeholder: string }) {
  const { query } = usePlace();
  const kept = query.get('q') ?? '';
  const [text, setText] = useState(kept);
  const [seen, setSeen] = useState(kept);
  // The address changed without this field, such as with "Clear the filters" or the back button.
  if (seen !== kept) {
    setSeen(kept);
    if (text.trim() !== kept.trim()) setText(kept);
  }
  const isNew = text.trim() !== kept.trim();
  useEffect(() => {
    if (!isNew) return undefined;
    const timer = setTimeout(() => setQuery({ q: text.trim() }), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, isNew]);
  return (
    <input
      className="input"
      type="search"
      aria-label={label}
      placeholder={placeholder}
      value={text}
      onChange={(event) => setText(event.target.value)}
      // Who goes on to a filter or a link has finished typing.
      onBlur={() => isNew && setQuery({ q: text.trim() })}
    />
  );
}
