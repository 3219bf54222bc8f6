import { type AnchorHTMLAttributes, type MouseEvent, useSyncExternalStore } from 'react';

/** The path of the page below `/ui`, such as `/runs/run_1`, and its query. */
export interface Place {
  path: string;
  query: URLSearchParams;
}

const BASE = '/ui';
const MOVED = 'secondwind-moved';

const subscribe = (listener: () => void): (() => void) => {
  addEventListener('popstate', listener);
  addEventListener(MOVED, listener);
  return () => {
    removeEventListener('popstate', listener);
    removeEventListener(MOVED, listener);
  };
};

/** The current place; the component renders again when it changes. */
export function usePlace(): Place {
  const address = useSyncExternalStore(subscribe, () => location.pathname + location.search);
  const { pathname, searchParams } = new URL(address, location.origin);
  return { path: pathname.slice(BASE.length) || '/', query: searchParams };
}

export function goTo(to: string, options: { replace?: boolean } = {}): void {
  if (options.replace) history.replaceState(null, '', BASE + to);
  else history.pushState(null, '', BASE + to);
  dispatchEvent(new Event(MOVED));
  if (!options.replace) scrollTo(0, 0);
}

/** Changes parts of the query in place; an empty value removes its key. */
export function setQuery(changes: Record<string, string>): void {
  const query = new URLSearchParams(location.search);
  for (const [key, value] of Object.entries(changes)) {
    if (value === '') query.delete(key);
    else query.set(key, value);
  }
  const text = query.toString();
  goTo(location.pathname.slice(BASE.length) + (text === '' ? '' : `?${text}`), { replace: true });
}

/** A link inside the dashboard. With a modifier key the browser opens it as any other link. */
export function Link({ to, ...rest }: AnchorHTMLAttributes<HTMLAnchorElement> & { to: string }) {
  const follow = (event: MouseEvent): void => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    goTo(to);
  };
  return <a {...rest} href={BASE + to} onClick={follow} />;
}
