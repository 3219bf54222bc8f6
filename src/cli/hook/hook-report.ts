import { reportGuard } from '../../core/guard/guard-state.ts';
import type { HookAgent } from '../../core/hook/agents.ts';
import type { InspectedFailure } from '../../core/inspect/inspected-failure.ts';
import type { InspectedLoop } from '../../core/inspect/inspected-loop.ts';
import { loopLines } from '../inspect/render.ts';
import { count, minute, oneLine } from '../show/terminal-text.ts';
import type { HookSession } from './session-file.ts';

/** What the hook has seen of one session, in the shape in which `inspect` reports a file. */
export interface SessionReport {
  session: string;
  agent: HookAgent;
  mode: string;
  started_at: string;
  updated_at: string;
  calls: number;
  loops: InspectedLoop[];
  failures: InspectedFailure[];
}

export const reportSession = ({ guard, told: _told, ...about }: HookSession): SessionReport => ({
  ...about,
  ...reportGuard(guard),
});

const SHOWN_FAILURES = 5;

export const sessionLines = (report: SessionReport): string[] => [
  `${oneLine(report.session)}: ${report.agent}, ${report.mode}, ${count(report.calls, 'call')}, last ${minute(report.updated_at)}`,
  ...(report.loops.length === 0 ? ['  not stuck'] : report.loops.flatMap((loop) => loopLines(loop, null))),
  ...report.failures
    .slice(0, SHOWN_FAILURES)
    .map((failure) => `  failed ${failure.count}×: ${oneLine(failure.tool)} ${oneLine(failure.example)}`),
];
