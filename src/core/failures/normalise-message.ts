import { headAndTail, oneSpace, withoutControls } from './clean-text.ts';
import { stripFolders, stripTempNames } from './strip-folders.ts';
import { replaceRequestIds, replaceVolatileParts } from './volatile-parts.ts';

/** What is left of a line after normalising is cut here; cutting before would make the cut depend on folders. */
const NORMALISED_CHARS = 600;

/**
 * One line of a message without what differs between machines, moments and attempts. Names in quotes stay: two missing
 * modules, or two constraints under one SQL code, are two failures.
 */
export const normaliseMessage = (line: string): string => {
  const text = oneSpace(withoutControls(headAndTail(line)));
  // Request ids first: some contain slashes, and would look like paths.
  const named = stripTempNames(stripFolders(replaceRequestIds(text)));
  return oneSpace(replaceVolatileParts(named)).slice(0, NORMALISED_CHARS);
};
