import { sha256Hex, canonicalJson } from '../../protocol/ids.ts';
import type { ChangedArgument, LessonRemedy } from '../../protocol/lessons.ts';
import { buildLessonText } from './lesson-text.ts';
import { hideData, mentions, saysSomething } from './travelling-values.ts';

/** This many runs with different goals and inputs make a value a rule. */
export const AGREEING_RUNS = 3;

/** Identifies an argument with its value. It is stored instead of the value, which belongs to one run until others agree. */
export const claimOf = ({ name, value }: ChangedArgument): string => sha256Hex(canonicalJson([name, value]));

/**
 * Leaves out what occurs in earlier outputs of the run. `null` stands for outputs that cannot be read: then no value of an
 * argument is told.
 */
export function withoutOutputs(remedy: LessonRemedy, outputs: readonly string[] | null): LessonRemedy {
  if (outputs === null) return { ...remedy, told: [], unexplained: [], reported: null };
  const isNew = ({ value }: ChangedArgument): boolean => !outputs.some((text) => mentions(text, String(value)));
  const { reported } = remedy;
  return {
    ...remedy,
    told: remedy.told.filter(isNew),
    unexplained: remedy.unexplained.filter(isNew),
    reported: reported === null ? null : hideData(reported, outputs),
  };
}

/** The text of a lesson, with the values that other runs agree on. Null if it has nothing to tell. */
export function tellLesson(remedy: LessonRemedy, agreed: ReadonlySet<string> = new Set()): string | null {
  const { failure, told, unexplained, reported, ...rest } = remedy;
  const known = [...told, ...unexplained.filter((argument) => agreed.has(claimOf(argument)))];
  return buildLessonText(failure, {
    ...rest,
    arguments: known.sort((one, other) => (one.name < other.name ? -1 : 1)),
    reported: reported !== null && saysSomething(reported) ? reported : null,
  });
}
