/**
 * Scores how much a prompt tells its reader: 0 to 10, the sum of six questions. It reads words, not meaning; a model
 * can replace it (`score` of refinePrompt). It is deterministic, and adding a line never lowers the score.
 *
 * | points | question |
 * | --- | --- |
 * | 2 | Is a task named? (1 for three words, 2 for six) |
 * | 2 | Does it tell what happened or is given: an error, a result, input, a reason? |
 * | 2 | Does it limit the work: must, only, keep, without, at most? |
 * | 2 | Does it say how the result is judged: expected, pass, check, should, example? |
 * | 1 | Does it ask for a way of working: steps, first, then, before? |
 * | 1 | Is something named exactly: a file, a number, something quoted, an identifier? |
 */
const READ_CHARS = 20_000;

const QUESTIONS: { points: number; asked: RegExp }[] = [
  {
    points: 2,
    asked:
      /\b(?:errors?|failed|rejected|last (?:attempt|result|run)|given|because|since|currently|context|background|input|we have|so far)\b/i,
  },
  {
    points: 2,
    asked:
      /\b(?:must|only|keep|without|never|at most|at least|no more than|limit(?:ed)?|exactly|avoid|do not|don't|compatible|everything else)\b/i,
  },
  {
    points: 2,
    asked:
      /\b(?:expect(?:ed|s)?|pass(?:es)?|checks?|checked|tests?|should|verify|verified|valid(?:ate|ation)?|for example|e\.g\.|such as|accept(?:ed|ance)?|what is left)\b/i,
  },
  { points: 1, asked: /\b(?:steps?|step by step|first|then|next|before|after|finally|finish by)\b/i },
  {
    points: 1,
    asked: /["'`][^"'`\n]{2,200}["'`]|\b\d{1,12}\b|\b[\w-]{1,80}\.[a-z]{1,5}\b|\b[a-z]{1,40}(?:[A-Z]|_[a-z])\w{0,40}/,
  },
];

export function scorePrompt(prompt: string): number {
  const read = prompt.slice(0, READ_CHARS);
  const words = read.split(/\s/, 1_000).filter((word) => word !== '').length;
  let score = (words >= 3 ? 1 : 0) + (words >= 6 ? 1 : 0);
  for (const { points, asked } of QUESTIONS) if (asked.test(read)) score += points;
  return score;
}
