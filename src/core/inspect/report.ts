import { letterOf } from '../strip/strip-marks.ts';
import type { CallExample } from './call-trail.ts';
import { type CallCollector, DISTINCT } from './collect-calls.ts';
import type { Format } from './events.ts';
import type { InspectedFailure } from './inspected-failure.ts';
import type { InspectedLoop } from './inspected-loop.ts';

export interface NotFlagged {
  tool: string;
  count: number;
  why: string;
}

export interface Waste {
  /** Calls that were made after a guard would have stepped in, inside the same stretch. */
  calls: number;
  share: number;
  /** Output tokens of the model after that point; null if the file does not say. */
  output_tokens: number | null;
  estimated: boolean;
  /** Only with a price. */
  cost_usd?: number;
}

/** What was wrong with a file. Nothing in it stops the reading. */
export interface FileProblem {
  problem: string;
  count: number;
}

/** A loop with some of the calls that show it. */
export interface ReportedLoop extends InspectedLoop {
  examples: CallExample[];
}

export interface FileReport {
  file: string;
  format: Format | 'unknown';
  calls: number;
  /**
   * One character per call: `.` if it did not fail, `-` if it has no result, the letter of its failure in the order of
   * `failures`, and `*` for failures after Z. Null for a very long transcript.
   */
  strip: string | null;
  loops: ReportedLoop[];
  failures: InspectedFailure[];
  waste: Waste;
  not_flagged: NotFlagged[];
  problems: FileProblem[];
}

const SHOWN_TOOLS = 5;
const OFTEN = 5;

const wasteOf = (collector: CallCollector, usdPerMillion: number | undefined): Waste => {
  const wasted = new Set<number>();
  for (const { would_stop_at, end } of collector.loops) {
    if (would_stop_at === null) continue;
    for (let call = would_stop_at + 1; call <= end; call += 1) wasted.add(call);
  }
  let tokens = 0;
  // The message that leads to a call comes before it.
  for (const call of wasted) tokens += collector.tokens[call - 1] ?? 0;
  const output_tokens = collector.hasTokens ? tokens : null;
  return {
    calls: wasted.size,
    share: collector.calls === 0 ? 0 : wasted.size / collector.calls,
    output_tokens,
    estimated: false,
    ...(usdPerMillion !== undefined &&
      output_tokens !== null && { cost_usd: (output_tokens * usdPerMillion) / 1_000_000 }),
  };
};

const notFlagged = ({ tools, loops }: CallCollector): NotFlagged[] => {
  const flagged = new Set(loops.map(({ tool }) => tool));
  return [...tools]
    .filter(([tool, { count }]) => count >= OFTEN && !flagged.has(tool))
    .toSorted((one, other) => other[1].count - one[1].count)
    .slice(0, SHOWN_TOOLS)
    .map(([tool, { count, inputs, outcomes }]) => {
      if (inputs.size >= Math.min(count * 0.9, DISTINCT))
        return { tool, count, why: 'nearly every call had another input' };
      if (outcomes.size >= Math.min(count * 0.5, DISTINCT)) return { tool, count, why: 'its answers kept changing' };
      return { tool, count, why: 'equal calls came after a change or after something new' };
    });
};

const STRIP_CALLS = 5000;

const stripOf = ({ calls, trail }: CallCollector, failures: readonly InspectedFailure[]): string | null => {
  if (calls > STRIP_CALLS) return null;
  const letters = new Map(failures.map(({ fingerprint }, at) => [fingerprint, letterOf(at)]));
  return Array.from({ length: calls }, (_, at) => {
    const end = trail.ends[at + 1];
    const letter = end === null ? '.' : end === undefined ? '-' : (letters.get(end) ?? '*');
    return letter.length === 1 ? letter : '*';
  }).join('');
};

const sortedFailures = ({ failures }: CallCollector): InspectedFailure[] =>
  [...failures.values()].toSorted((one, other) => other.count - one.count);

/** Makes the report about one file. */
export const reportFile = (
  file: string,
  format: Format | 'unknown',
  collector: CallCollector,
  problems: FileProblem[],
  usdPerMillion?: number,
): FileReport => ({
  file,
  format,
  calls: collector.calls,
  strip: stripOf(collector, sortedFailures(collector)),
  loops: collector.loops.map((loop) => ({ ...loop, examples: collector.examples.get(loop.start) ?? [] })),
  failures: sortedFailures(collector),
  waste: wasteOf(collector, usdPerMillion),
  not_flagged: notFlagged(collector),
  problems,
});

/** Removes what could say whose transcript it is: names of files and tools, and quoted text. */
export const anonymize = (reports: readonly FileReport[]): FileReport[] => {
  const names = new Map<string, string>();
  const nameOf = (tool: string): string => {
    const known = names.get(tool) ?? `tool-${names.size + 1}`;
    names.set(tool, known);
    return known;
  };
  return reports.map((report, index) => ({
    ...report,
    file: `file-${index + 1}`,
    loops: report.loops.map((loop) => ({
      ...loop,
      tool: loop.tool === null ? null : nameOf(loop.tool),
      examples: [],
    })),
    failures: report.failures.map((failure, at) => ({
      ...failure,
      tool: nameOf(failure.tool),
      // A fingerprint begins with the name of the tool.
      fingerprint: failure.fingerprint.split(':').at(-1) ?? String(at),
      example: '',
    })),
    not_flagged: report.not_flagged.map((entry) => ({ ...entry, tool: nameOf(entry.tool) })),
  }));
};
