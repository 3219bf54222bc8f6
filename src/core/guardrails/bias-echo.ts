/** How often each tag was flagged, one count per loop. */
export type BiasCounts = Record<string, number>;

/** A bias that a reviewer names: a word, or an object with more details. */
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

/**
 * The distinct tags of one loop in the order they were named. They are trimmed, keep their case, and blank ones are
 * dropped.
 */
export function distinctTags(tags: readonly BiasTag[] | undefined): string[] {
  const names = (tags ?? []).map((entry) => (typeof entry === 'string' ? entry : entry.tag).trim());
  return [...new Set(names)].filter((name) => name !== '');
}

/** How many of these loops flagged the tag. */
export const countFlags = (tag: string, loops: readonly (readonly string[])[]): number =>
  loops.filter((tags) => tags.includes(tag)).length;

/**
 * Detects tags that this loop flags again. `earlierLoops` are the tags of the family's earlier loops; `elsewhere` are
 * the counts of all other families, passed if the policy counts globally.
 */
export function detectBiasEcho(
  tags: readonly string[],
  earlierLoops: readonly (readonly string[])[],
  elsewhere: BiasCounts | null,
  threshold: number,
): BiasEchoResult {
  const counts = tags.map((tag): [string, number] => [
    tag,
    1 + countFlags(tag, earlierLoops) + countOf(tag, elsewhere),
  ]);
  const repeatedTags = counts.filter(([, count]) => count >= threshold).map(([tag]) => tag);
  const echo = repeatedTags.length > 0;
  return {
    bias_repetition: echo,
    repeated_tags: repeatedTags,
    // fromEntries defines own members, so a tag named `__proto__` needs no special case.
    repetition_counts: Object.fromEntries(counts),
    threshold,
    bias_echo: echo,
    trigger: echo ? 'pessimist' : null,
    action: echo ? 'halt_loop' : null,
  };
}

const countOf = (tag: string, counts: BiasCounts | null): number =>
  counts !== null && Object.hasOwn(counts, tag) ? (counts[tag] ?? 0) : 0;
