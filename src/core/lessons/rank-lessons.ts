/** A stored lesson, with the fields that decide its rank when a run starts. */
export interface Lesson {
  id: string;
  content: string;
  /** The tools it was learnt with; empty for an imported lesson. */
  tools: readonly string[];
  pinned: boolean;
  /** How often it was shown before an attempt, and how many of those attempts succeeded. */
  uses: number;
  successes: number;
  /** ISO time of its latest occurrence. */
  last_seen_at: string;
}

export const MAX_LESSONS = 5;

/** A lesson without tools is about a tool if its text contains the tool's name as a separate word. */
export function isAboutTools(lesson: Pick<Lesson, 'tools' | 'content'>, toolNames: readonly string[]): boolean {
  if (lesson.tools.length > 0) return lesson.tools.some((tool) => toolNames.includes(tool));
  return toolNames.some((tool) => mentions(lesson.content, tool));
}

const PART_OF_A_NAME = /[\p{L}\p{N}_]/u;

function mentions(text: string, name: string): boolean {
  if (name === '') return false;
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + 1)) {
    const before = text.charAt(at - 1);
    const after = text.charAt(at + name.length);
    if (!PART_OF_A_NAME.test(before) && !PART_OF_A_NAME.test(after)) return true;
  }
  return false;
}

/** Selects the lessons that a run starts with: pinned first, then by success rate, then the latest, then by id. */
export function rankLessons<L extends Lesson>(
  lessons: readonly L[],
  toolNames: readonly string[],
  limit: number = MAX_LESSONS,
): L[] {
  return lessons
    .filter((lesson) => isAboutTools(lesson, toolNames))
    .sort(compareLessons)
    .slice(0, limit);
}

/** Negative if `a` comes first. */
export function compareLessons(a: Lesson, b: Lesson): number {
  if (a.pinned !== b.pinned) return a.pinned ? -1 : 1;
  const success = compareSuccess(b, a);
  if (success !== 0) return success;
  if (a.last_seen_at !== b.last_seen_at) return a.last_seen_at > b.last_seen_at ? -1 : 1;
  if (a.id === b.id) return 0;
  return a.id < b.id ? -1 : 1;
}

/**
 * Compares the success rates, with one success and one failure added to each. So an untried lesson ranks between those
 * that helped and those that did not, and one success of one does not outrank nine of ten. Cross-multiplied whole
 * numbers avoid rounding.
 */
function compareSuccess(a: Lesson, b: Lesson): number {
  return (a.successes + 1) * (b.uses + 2) - (b.successes + 1) * (a.uses + 2);
}
