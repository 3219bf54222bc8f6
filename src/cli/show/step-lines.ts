import type { ProjectedAttempt, ProjectedStep } from '../../client/views.ts';
import { colours } from './colours.ts';
import { type Column, table } from './table.ts';

const lastAttempt = ({ attempts }: ProjectedStep): ProjectedAttempt | undefined => attempts.at(-1);

const paintOutcome = (text: string, step: ProjectedStep): string => {
  const outcome = lastAttempt(step)?.outcome;
  return outcome === 'ok' ? colours.green(text) : outcome === 'failed' ? colours.red(text) : text;
};

/** A preview that is a text is shown as it is: it may be the beginning of some JSON. */
const show = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

function result(step: ProjectedStep): string {
  const last = lastAttempt(step);
  if (last?.output !== undefined) return show(last.output);
  if (last?.output_artifact_id !== undefined) return `artifact ${last.output_artifact_id}`;
  return last?.failure_id === undefined ? '' : `failure ${last.failure_id}`;
}

const input = ({ input: given, edited }: ProjectedStep): string =>
  edited === undefined ? show(given) : `${show(given)} (changed by ${edited.by})`;

const STEPS: Column<ProjectedStep>[] = [
  { head: 'STEP', cell: (step) => String(step.step_id), right: true },
  { head: 'TOOL', cell: (step) => step.tool, flexible: true },
  { head: 'OUTCOME', cell: (step) => lastAttempt(step)?.outcome ?? '', paint: paintOutcome },
  { head: 'ATTEMPTS', cell: (step) => String(step.attempts.length), right: true },
  { head: 'INPUT', cell: input, flexible: true },
  { head: 'OUTPUT', cell: result, flexible: true },
];

/** The steps of a run as a table, or as one table for each pass. */
export function stepLines(runId: string, steps: readonly ProjectedStep[], width: number | null): string[] {
  if (steps.length === 0) return ['No steps.'];
  const passes = [...new Set(steps.map(({ loop_id }) => loop_id))];
  const tables = passes.flatMap((pass, index) => [
    ...(passes.length === 1 ? [] : [...(index === 0 ? [] : ['']), `pass ${pass}`]),
    ...table(
      STEPS,
      steps.filter(({ loop_id }) => loop_id === pass),
      width,
    ),
  ]);
  // Only a terminal cuts the values; what a program reads is whole.
  return width === null
    ? tables
    : [...tables, '', `Every attempt, and longer values: secondwind steps ${runId} --json`];
}
