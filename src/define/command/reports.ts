import { constants, type Stats } from 'node:fs';
import { lstat, open, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type AttemptWindow,
  chooseReport,
  type IgnoredReport,
  readReport,
  REPORT_MAX_BYTES,
  REPORT_SUFFIX,
  type ReportedFailure,
  type ReportFile,
} from '../../core/retry/failure-report.ts';

export interface FoundReport {
  name: string;
  failure: ReportedFailure;
}
export interface ReportSearch {
  report: FoundReport | null;
  ignored: IgnoredReport[];
}

/** The most entries of a folder that are examined, because a shared folder may hold anything. */
const MOST_ENTRIES = 10_000;
const LOOK_AGAIN_MS = 100;

/**
 * Finds the failure report of an attempt. A shared folder is read repeatedly until `untilMs`, because a report may be written after
 * the command has ended.
 */
export async function findReport(
  folder: string,
  window: AttemptWindow,
  idempotencyKey: string,
  untilMs: number,
): Promise<ReportSearch> {
  for (;;) {
    const search = await look(folder, window, idempotencyKey);
    const whole = search.report !== null && search.report.failure.category !== 'contract_violation';
    if (whole || Date.now() >= untilMs) return search;
    await sleep(LOOK_AGAIN_MS);
  }
}

async function look(folder: string, window: AttemptWindow, idempotencyKey: string): Promise<ReportSearch> {
  let listing = await list(folder);
  const ignored: IgnoredReport[] = [];
  for (;;) {
    const chosen = chooseReport(listing, window);
    if (chosen.report === null) return { report: null, ignored: [...ignored, ...chosen.ignored] };
    const { name } = chosen.report;
    const read = await readText(join(folder, name));
    if (read.ok && !belongsToAnotherRun(read.text, idempotencyKey)) {
      return { report: { name, failure: readReport(read.text) }, ignored: [...ignored, ...chosen.ignored] };
    }
    ignored.push({ name, because: read.ok ? 'other_run' : 'not_a_regular_file' });
    listing = listing.filter((file) => file.name !== name);
  }
}

async function list(folder: string): Promise<ReportFile[]> {
  const files: ReportFile[] = [];
  try {
    // The command may have replaced its folder by a link.
    if (!(await lstat(folder)).isDirectory()) return [];
    let seen = 0;
    for await (const { name } of await opendir(folder)) {
      seen += 1;
      if (seen > MOST_ENTRIES) break;
      if (!name.endsWith(REPORT_SUFFIX)) continue;
      const found = await lstat(join(folder, name)).catch(() => null);
      if (found !== null) files.push(reportFile(name, found));
    }
  } catch {
    // Without the folder there is no report.
  }
  return files;
}

const reportFile = (name: string, found: Stats): ReportFile => ({
  name,
  mtime_ms: found.mtimeMs,
  size: found.size,
  kind: kindOf(found),
  owner_matches: found.uid === (process.getuid?.() ?? found.uid),
});

function kindOf(found: Stats): ReportFile['kind'] {
  if (found.isFile()) return 'file';
  if (found.isSymbolicLink()) return 'symlink';
  if (found.isFIFO()) return 'fifo';
  return found.isDirectory() ? 'directory' : 'other';
}

/** Does not follow links and does not wait for the writer of a pipe, because the entry may have changed since it was listed. */
const SAFE_OPEN_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Reads a file. `text` is null for a file that exceeds the cap. */
async function readText(path: string): Promise<{ ok: true; text: string | null } | { ok: false }> {
  const file = await open(path, SAFE_OPEN_FLAGS).catch(() => null);
  if (file === null) return { ok: false };
  try {
    const found = await file.stat();
    if (!found.isFile()) return { ok: false };
    if (found.size > REPORT_MAX_BYTES) return { ok: true, text: null };
    const { buffer, bytesRead } = await file.read(Buffer.alloc(REPORT_MAX_BYTES + 1), 0, REPORT_MAX_BYTES + 1, 0);
    return { ok: true, text: bytesRead > REPORT_MAX_BYTES ? null : buffer.toString('utf8', 0, bytesRead) };
  } catch {
    return { ok: false };
  } finally {
    await file.close().catch(() => undefined);
  }
}

/** In a shared folder a report can name its attempt by the idempotency key that the command was given. */
function belongsToAnotherRun(text: string | null, idempotencyKey: string): boolean {
  if (text === null) return false;
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== 'object' || parsed === null || !('idempotency_key' in parsed)) return false;
    return typeof parsed.idempotency_key === 'string' && parsed.idempotency_key !== idempotencyKey;
  } catch {
    return false;
  }
}
