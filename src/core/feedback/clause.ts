/**
 * The clause around a word. A denial, a condition or a task applies up to the next comma. Short conjunctions and
 * interjections before it ("and", "ok,") are left out.
 */
export type Clause = {
  /** From the start of the clause to the word. */
  lead: string;
  /** From the word to the end of the clause. */
  rest: string;
  /** The rest of the sentence. */
  later: string;
  /** The text after the sentence. */
  following: string;
};

const BOUNDARY = /[,;:—–](?= |$)|\.{2,3}(?= |$)| - | but (?=\w)/g;
const JOINING =
  /^\s{0,4}(?:(?:and|but|so|then|also|or|because|well|hmm|hi|hey|ok|okay|yes|yeah|oh|no|please|now|sorry),? ){0,3}/i;

export function clauseAround(text: string, start: number, end: number, following: string): Clause {
  let from = 0;
  let to = text.length;
  for (const boundary of text.matchAll(BOUNDARY)) {
    if (boundary.index + boundary[0].length <= start) from = boundary.index + boundary[0].length;
    else if (boundary.index >= end && boundary.index < to) to = boundary.index;
  }
  const lead = text.slice(from, start);
  return {
    lead: lead.slice(JOINING.exec(lead)?.[0].length ?? 0),
    rest: text.slice(end, to),
    later: text.slice(to),
    following: following.trimStart(),
  };
}
