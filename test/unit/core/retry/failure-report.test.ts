import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chooseReport, readReport, REPORT_MAX_BYTES } from '../../../../src/core/retry/failure-report.ts';
import type { ReportFile } from '../../../../src/core/retry/failure-report.ts';

const WINDOW = { started_at_ms: 100_000, ended_at_ms: 110_000 };
const file = (name: string, how: Partial<ReportFile> = {}): ReportFile => ({
  name: `${name}-FAILURE-REPORT.json`,
  mtime_ms: 105_000,
  size: 30,
  kind: 'file',
  owner_matches: true,
  ...how,
});

describe('which report counts', () => {
  test.each<[string, Partial<ReportFile>, string | null]>([
    ['written while it ran', {}, null],
    ['written as it started', { mtime_ms: 100_000 }, null],
    ['stamped by the coarser clock of the file system', { mtime_ms: 99_992 }, null],
    ['written 5 s after its end', { mtime_ms: 115_000 }, null],
    ['written later than that', { mtime_ms: 115_001 }, 'later_than_attempt'],
    ['older than the attempt', { mtime_ms: 99_000 }, 'older_than_attempt'],
    ['without a time', { mtime_ms: Number.NaN }, 'older_than_attempt'],
    ['a symlink', { kind: 'symlink' }, 'not_a_regular_file'],
    ['a FIFO', { kind: 'fifo' }, 'not_a_regular_file'],
    ['a folder', { kind: 'directory' }, 'not_a_regular_file'],
    ["another owner's", { owner_matches: false }, 'other_owner'],
  ])('a report that is %s is used or ignored as expected', (_what, how, because) => {
    const only = file('a', how);
    expect(chooseReport([only], WINDOW)).toEqual(
      because === null ? { report: only, ignored: [] } : { report: null, ignored: [{ name: only.name, because }] },
    );
  });

  test('files with other names are not listed as ignored reports', () => {
    const listing = ['report.json', 'x-FAILURE-REPORT.json.tmp', 'x-failure-report.json'];
    const files = listing.map((name) => ({ ...file('x'), name }));
    expect(chooseReport(files, WINDOW)).toEqual({ report: null, ignored: [] });
  });

  test('the newest of several reports is used, in whatever order the folder lists them', () => {
    const files = [
      file('a', { mtime_ms: 101_000 }),
      file('b', { mtime_ms: 109_000 }),
      file('c', { mtime_ms: 109_000 }),
      file('newest-but-a-link', { mtime_ms: 110_000, kind: 'symlink' }),
    ];
    fc.assert(
      fc.property(fc.shuffledSubarray(files, { minLength: files.length }), (listing) => {
        const { report, ignored } = chooseReport(listing, WINDOW);
        expect(report?.name).toBe('c-FAILURE-REPORT.json');
        expect(ignored).toHaveLength(1);
      }),
    );
  });
});

describe('what a report says', () => {
  test.each<[string, string | null, number, string]>([
    ['grounding', '{"missing": ["grounding"]}', 1, 'validation_grounding'],
    ['grounding inside an entry', '{"missing": ["no grounding metadata"]}', 1, 'validation_grounding'],
    ['in capitals', '{"missing": ["Grounding"]}', 1, 'validation_grounding'],
    ['reasoning', '{"missing": ["reasoning"], "more": 1}', 2, 'validation_reasoning'],
    ['both in two entries', '{"missing": ["reasoning", "grounding"]}', 3, 'validation_both'],
    ['both in one entry', '{"missing": ["grounding and reasoning"]}', 3, 'validation_both'],
    ['neither', '{"missing": ["citations"]}', 4, 'validation_unknown'],
    ['nothing', '{"missing": []}', 4, 'validation_unknown'],
    ['with a byte order mark', '\uFEFF{"missing": ["reasoning"]}', 2, 'validation_reasoning'],
    ['half-written', '{"missing": ["groun', 4, 'contract_violation'],
    ['empty', '', 4, 'contract_violation'],
    ['not JSON', 'grounding', 4, 'contract_violation'],
    ['not an object', '["grounding"]', 4, 'contract_violation'],
    ['null', 'null', 4, 'contract_violation'],
    ['without missing', '{}', 4, 'contract_violation'],
    ['missing is no list', '{"missing": "grounding"}', 4, 'contract_violation'],
    ['a list of other things', '{"missing": [{"grounding": 1}]}', 4, 'contract_violation'],
    ['too large to be read', null, 4, 'contract_violation'],
    ['over 1 MB', `{"missing": ["grounding${' '.repeat(REPORT_MAX_BYTES)}"]}`, 4, 'contract_violation'],
  ])('a report with the content "%s" gives the expected category', (_what, text, exit_code, category) => {
    expect(readReport(text)).toMatchObject({ exit_code, category });
  });

  test('readReport reads any text without an exception', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect([1, 2, 3, 4]).toContain(readReport(text).exit_code);
      }),
    );
    expect(readReport('['.repeat(500_000)).category).toBe('contract_violation');
  });
});
