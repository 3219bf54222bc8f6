import type { FileReport } from './report.ts';

/** What all inspected files show together. */
export interface Total {
  files: number;
  /** Files in which no call was found. */
  without_calls: number;
  calls: number;
  stuck: number;
  suspect: number;
  wasted_calls: number;
}

export const totalOf = (reports: readonly FileReport[]): Total => {
  const has = (level: 'suspect' | 'stuck') => (report: FileReport) => report.loops.some((loop) => loop.level === level);
  const stuck = reports.filter(has('stuck'));
  return {
    files: reports.length,
    without_calls: reports.filter(({ calls }) => calls === 0).length,
    calls: reports.reduce((sum, { calls }) => sum + calls, 0),
    stuck: stuck.length,
    suspect: reports.filter((report) => !stuck.includes(report) && has('suspect')(report)).length,
    wasted_calls: reports.reduce((sum, { waste }) => sum + waste.calls, 0),
  };
};
