import { setQuery, usePlace } from '../shell/router.tsx';

interface SearchHeadProps {
  title: string;
  /** How many there are, in words; empty while they are loaded. */
  status: string;
  label: string;
  placeholder: string;
}

/** The head of a page with one list: its title, how long the list is, and a search that stays in the address. */
export function SearchHead({ title, status, label, placeholder }: SearchHeadProps) {
  const { query } = usePlace();
  return (
    <>
      <div className="row wrap page-head">
        <h1 className="grow">{title}</h1>
        <p className="faint small" role="status">
          {status}
        </p>
      </div>
      <div className="filters one" role="search">
        <input
          className="input"
          type="search"
          aria-label={label}
          placeholder={placeholder}
          defaultValue={query.get('q') ?? ''}
          onChange={(event) => setQuery({ q: event.target.value })}
        />
      </div>
    </>
  );
}
