import { headAndTail, collapseSpaces, stripControls } from './clean-text.ts';
import { stripFolders, stripTempNames } from './strip-folders.ts';
import { replaceRequestIds, replaceVolatileParts } from './volatile-parts.ts';

/**
 * Lines are cut after they are normalised. Cutting before would make the result depend on the length of folder names.
 */
const NORMALISED_CHARS = 600;

/**
 * Removes from a line of a message what differs between machines, times and attempts. Quoted names stay, because two
 * missing modules, or two constraints with one SQL code, are different failures.
 */
export const normaliseMessage = (line: string): string => {
  const text = collapseSpaces(stripControls(headAndTail(line)));
  // Request ids come first, because some contain slashes and would look like paths.
  const named = stripTempNames(stripFolders(replaceRequestIds(text)));
  return collapseSpaces(replaceVolatileParts(named)).slice(0, NORMALISED_CHARS);
};
