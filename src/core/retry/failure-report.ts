import type { FailureCategory } from '../../protocol/failure-categories.ts';

export const REPORT_SUFFIX = '-FAILURE-REPORT.json';
/**
 * A command may write its report while it exits. A report that is written later than this does not belong to the
 * attempt.
 */
export const REPORT_GRACE_MS = 5_000;
export const REPORT_MAX_BYTES = 1024 * 1024;
/** Tolerance for file times, because a file system's clock can be one tick behind the clock that timed the start. */
const MTIME_SLACK_MS = 10;

/** One file of the report folder, read without following links. */
export interface ReportFile {
  name: string;
  mtime_ms: number;
  size: number;
  kind: 'file' | 'symlink' | 'fifo' | 'directory' | 'other';
  owner_matches: boolean;
}
export interface AttemptWindow {
  started_at_ms: number;
  ended_at_ms: number;
}

export type IgnoredBecause =
  | 'not_a_regular_file'
  | 'other_owner'
  | 'other_run'
  | 'older_than_attempt'
  | 'later_than_attempt';
export interface IgnoredReport {
  name: string;
  because: IgnoredBecause;
}

const whyIgnored = (file: ReportFile, window: AttemptWindow): IgnoredBecause | null => {
  if (file.kind !== 'file') return 'not_a_regular_file';
  if (!file.owner_matches) return 'other_owner';
  // The condition is negated so that a time that is not a number is ignored too.
  if (!(file.mtime_ms >= window.started_at_ms - MTIME_SLACK_MS)) return 'older_than_attempt';
  if (!(file.mtime_ms <= window.ended_at_ms + REPORT_GRACE_MS)) return 'later_than_attempt';
  return null;
};

/** Compares by time and then by name, so that every machine chooses the same report. */
const isNewer = (a: ReportFile, b: ReportFile): boolean =>
  a.mtime_ms > b.mtime_ms || (a.mtime_ms === b.mtime_ms && a.name > b.name);

/** Chooses the report of a folder that belongs to this attempt, and lists the ignored ones with the reason. */
export const chooseReport = (
  listing: readonly ReportFile[],
  window: AttemptWindow,
): { report: ReportFile | null; ignored: IgnoredReport[] } => {
  let report: ReportFile | null = null;
  const ignored: IgnoredReport[] = [];
  for (const file of listing) {
    if (!file.name.endsWith(REPORT_SUFFIX)) continue;
    const because = whyIgnored(file, window);
    if (because !== null) ignored.push({ name: file.name, because });
    else if (report === null || isNewer(file, report)) report = file;
  }
  return { report, ignored };
};

/** The failure that a report names, with the exit code of the same meaning. */
export interface ReportedFailure {
  exit_code: 1 | 2 | 3 | 4;
  category: FailureCategory;
  missing: string[];
}

const UNREADABLE: ReportedFailure = { exit_code: 4, category: 'contract_violation', missing: [] };

const missingOf = (text: string): string[] | null => {
  try {
    // Some editors and Windows tools write a byte order mark at the start.
    const parsed: unknown = JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text);
    if (typeof parsed !== 'object' || parsed === null || !('missing' in parsed)) return null;
    const { missing } = parsed;
    return Array.isArray(missing) && missing.every((entry) => typeof entry === 'string') ? missing : null;
  } catch {
    return null;
  }
};

/**
 * Reads a report and never throws. A report with an invalid format still says that something failed, so it counts as a
 * contract_violation and is retried. `text` is null when the file was too large to read.
 */
export const readReport = (text: string | null): ReportedFailure => {
  const missing = text === null || text.length > REPORT_MAX_BYTES ? null : missingOf(text);
  if (missing === null) return { ...UNREADABLE, missing: [] };
  const names = (what: string): boolean => missing.some((entry) => entry.toLowerCase().includes(what));
  const grounding = names('grounding');
  const reasoning = names('reasoning');
  if (grounding && reasoning) return { exit_code: 3, category: 'validation_both', missing };
  if (grounding) return { exit_code: 1, category: 'validation_grounding', missing };
  if (reasoning) return { exit_code: 2, category: 'validation_reasoning', missing };
  return { exit_code: 4, category: 'validation_unknown', missing };
};
