import type { Client } from '@temporalio/client';
import { matchesSearch } from '../matches-search.ts';
import type { ListedRun } from '../views.ts';
import { visibleRuns } from './visibility.ts';

/** A place in Temporal's list: a page token, and how many runs of the page after it were looked at. */
export interface ScanPlace {
  token: Uint8Array | null;
  skip: number;
}

/** Temporal answers with at most 1,000 runs at once. */
const SCAN_PAGE = 1_000;
/** One request looks at so many runs and then answers with a cursor, so that no request takes long. */
const MAX_SCANNED = 5_000;

interface Scanned {
  runs: ListedRun[];
  /** Null after the last run. */
  next: ScanPlace | null;
  /** When the last run that was looked at ended. */
  endedBefore: string | undefined;
}

/**
 * Looks through the runs in Temporal's list for the words. Temporal indexes neither goals nor parts of a text, and a memo can be
 * encrypted, so each run is read and compared here.
 */
export async function scanRuns(
  client: Client,
  where: readonly string[],
  words: readonly string[],
  { from, size }: { from: ScanPlace; size: number },
): Promise<Scanned> {
  const runs: ListedRun[] = [];
  let place = from;
  let endedBefore: string | undefined;
  for (let scanned = 0; scanned < MAX_SCANNED; scanned += SCAN_PAGE) {
    const page = await visibleRuns(client, where, { size: SCAN_PAGE, token: place.token });
    for (const [index, run] of page.runs.entries()) {
      if (index < place.skip || !matchesSearch(run, words)) continue;
      runs.push(run);
      if (runs.length === size) return { runs, next: { token: place.token, skip: index + 1 }, endedBefore };
    }
    endedBefore = page.runs.at(-1)?.ended_at ?? endedBefore;
    if (page.token === null) return { runs, next: null, endedBefore };
    place = { token: page.token, skip: 0 };
  }
  return { runs, next: place, endedBefore };
}
