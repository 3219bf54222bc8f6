/** A quoted path may contain spaces. An unquoted path ends at a space. */
const QUOTED_PATH = /(['"`])((?:~|\.{1,2}|[A-Za-z]:)?[/\\][^'"`]{0,1000})\1/g;
/** Does not match after a placeholder, so that normalising twice changes nothing. */
const TOKEN = /(?<!>)[^\s'"`(),;=<>|[\]{}]+/g;

const URL_START = /^([A-Za-z][A-Za-z0-9+.-]{0,30}):\/\/([^/?#\\]{0,2000})/;
const ROOTED = /^(?:~|\.{1,2}|[A-Za-z]:)?[/\\]/;
const FILE_NAME = /\.[A-Za-z][A-Za-z0-9]{0,9}(?::\d{1,7}){0,2}:?$/;

const TEMP_FOLDERS = ['tmp', 'temp', 't', '$tmpdir', '%temp%'];
/** Names that mktemp, mkdtemp and tempfile generate: `tmpk3j2h1x9`, `tmp.Xa83kdkE2s`. */
const TEMP_NAME =
  /(?<![A-Za-z0-9])(?:tmp[._-]?[A-Za-z0-9_]{6,20}|temp[._-](?=[A-Za-z_]{0,19}\d)[A-Za-z0-9_]{4,20})(?![A-Za-z0-9_])/gi;
/** Directly inside a temp folder, a random ending is enough: `build-x8S7d6`. */
const RANDOM_ENDING =
  /([-_.])(?:[A-Za-z0-9]{6}|[a-z0-9_]{8}|(?=[A-Za-z]{0,19}\d)[A-Za-z0-9]{6,20})(?=$|\.[A-Za-z][A-Za-z0-9]{0,4}$)/;

const segmentsOf = (path: string): string[] => path.split(/[/\\]/).filter((part) => part !== '');

const lastSegment = (path: string): string => {
  const segments = segmentsOf(path);
  const last = segments.at(-1);
  if (last === undefined) return path;
  const folder = segments.at(-2)?.toLowerCase();
  const inTempFolder = folder !== undefined && TEMP_FOLDERS.includes(folder);
  return inTempFolder && last.search(TEMP_NAME) < 0 ? last.replace(RANDOM_ENDING, '$1<tmp>') : last;
};

/** Keeps the host of a URL, because another host is another failure, and removes credentials and folders. */
const shortUrl = (scheme: string, authority: string, rest: string): string => {
  const queryAt = rest.search(/[?#]/);
  const path = queryAt < 0 ? rest : rest.slice(0, queryAt);
  const query = queryAt < 0 ? '' : rest.slice(queryAt);
  if (scheme.toLowerCase() === 'file') return lastSegment(path) + query;
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  const last = segmentsOf(path).at(-1);
  return `${scheme}://${host}${last === undefined ? '' : `/${last}`}${query}`;
};

const shortToken = (token: string): string => {
  if (!token.includes('/') && !token.includes('\\')) return token;
  const url = URL_START.exec(token);
  if (url) return shortUrl(url[1] ?? '', url[2] ?? '', token.slice(url[0].length));
  if (ROOTED.test(token)) return lastSegment(token);
  // `@scope/name`, `lodash/fp` and `text/html` are names. A relative path is recognized by a file extension.
  return !token.startsWith('@') && FILE_NAME.test(token) ? lastSegment(token) : token;
};

/** Reduces each path to its last segment, because folders differ between machines. */
export const stripFolders = (line: string): string =>
  line
    .replace(QUOTED_PATH, (_all, quote: string, path: string) => quote + lastSegment(path) + quote)
    .replace(TOKEN, shortToken);

export const stripTempNames = (line: string): string => line.replace(TEMP_NAME, '<tmp>');
