import type { ReactNode } from 'react';
import { SearchBox } from '../parts/search-box.tsx';

interface SearchHeadProps {
  title: string;
  /** How many there are, in words; empty while they are loaded. */
  status: string;
  label: string;
  placeholder: string;
  /** Further filters beside the search. */
  children?: ReactNode;
}

/** The head of a page with one list: its title, how long the list is, and a search that stays in the address. */
export function SearchHead({ title, status, label, placeholder, children }: SearchHeadProps) {
  return (
    <>
      <div className="row wrap page-head">
        <h1 className="grow">{title}</h1>
        <p className="faint small" role="status">
          {status}
        </p>
      </div>
      <div className="filters one" role="search">
        <SearchBox label={label} placeholder={placeholder} />
        {children}
      </div>
    </>
  );
}
