/** How often each tag was flagged, one count per loop. */
export type BiasCounts = Record<string, number>;

/** A reviewer names a bias as a word, or as an object that says more about it. */
export type BiasTag = string | { tag: string };

export interface BiasEchoResult {
  bias_repetition: boolean;
  repeated_tags: string[];
  repetition_counts: BiasCounts;
  threshold: number;
  bias_echo: boolean;
  trigger: 'pessimist' | null;
  action: 'halt_loop' | null;
}

/** The distinct tags of one loop in the order they were named: trimmed, case kept, blanks left out. */
export function tagsOfLoop(tags: readonly BiasTag[] | undefined): string[] {
  const names = (tags ?? []).map((entry) => (typeof entry === 'string' ? entry : entry.tag).trim());
  return [...new Set(names)].filter((name) => name !== '');
}

/** How many of these loops flagged the tag. */
export const loopsThatFlagged = (tag: string, loops: readonly (readonly string[])[]): number =>
  loops.filter((tags) => tags.includes(tag)).length;

/**
 * Only tags that this loop flags again can echo. `earlierLoops` are the tags of the family's loops before this one;
 * `elsewhere` are the counts of all other families, given when the policy counts globally.
 */
export function detectBiasEcho(
  tags: readonly string[],
  earlierLoops: readonly (readonly string[])[],
  elsewhere: BiasCounts | null,
  threshold: number,
): BiasEchoResult {
  const counts = tags.map((tag): [string, number] => [
    tag,
    1 + loopsThatFlagged(tag, earlierLoops) + countOf(tag, elsewhere),
  ]);
  const repeatedTags = counts.filter(([, count]) => count >= threshold).map(([tag]) => tag);
  const echo = repeatedTags.length > 0;
  return {
    bias_repetition: echo,
    repeated_tags: repeatedTags,
    // fromEntries defines own members, so a tag named `__proto__` is a tag like any other.
    repetition_counts: Object.fromEntries(counts),
    threshold,
    bias_echo: echo,
    trigger: echo ? 'pessimist' : null,
    action: echo ? 'halt_loop' : null,
  };
}

const countOf = (tag: string, counts: BiasCounts | null): number =>
  counts !== null && Object.hasOwn(counts, tag) ? (counts[tag] ?? 0) : 0;
