import type { Clause } from './clause.ts';

/** The text is about the past: "in 1929", "back then", "years ago". */
const HISTORY =
  /\b(?:(?:in|of|since|around|until|before) (?:1[5-9]|20)\d\d\b(?!-)|back (?:in|then)\b|in the (?:past (?:we|it|this|they)|old days|early days)|in those days|years? ago|(?:in )?the old (?:system|version|days|code|app|design)|last (?:year|month|winter|summer|spring|autumn|decade|century)|used to\b|historically)/i;

/** "It failed twice and then succeeded": the end is told after the failure. */
const WELL =
  /\b(?:(?:is|are|was|were|been|got|gets|it's|that's|they're|all|now|and|then) (?:(?:now|all|already|since|finally|back|again|quickly|easily|both) ){0,2}(?:fixed|resolved|solved|mended|repaired|sorted|gone|green|stable|healthy)|(?:pass|passes|passed|work|works|worked|run|runs|ran|goes|went) (?:now|again|today|fine|since|through|smoothly|well|away|green)|(?:now|then|today|since|again|also|it|retry|one|try|attempt|run) (?:it |they |everything |all )?(?:pass|passes|passed|work|works|worked|runs)(?! on\b| in\b| for\b| only| with\b| when| if)|(?:succeeded|recovered|healed)|passed on (?:the )?(?:retry|second|third|next|rerun)|(?:and|then|it|everything|all|now|one|today) (?:is|are|was|were|it's)? ?(?:now |all )?(?:fine|ok|okay|done|good)|(?:fixed|fixes|solved|solves|resolved|repaired|updating|restarting) (?:it|that|everything|them|this|on|in|by|yesterday|today|the|both|all)|to (?:none|zero|0))\b|\bfixed\b(?= in \d)|\b(?:false alarm|never mind|all green|all set|it is none|now none|(?:is|was|were|are) successful|no longer|not since|(?:they|it|both|all|everything) pass(?:es)?(?! on| in| only| when| if)|not any ?more|the new one (?:does not|doesn't|is not|isn't))\b/i;
const UNWELL =
  /(?:\b(?:not|never|until|once|should be|must be|needs? to be|to be|can be|if|before|unless|rest|else|others?|get it|have it|only)|n't)(?: \w{1,20}){0,2} ?$/i;
const BEFORE_CHARS = 30;
const DISMISSED =
  /\b(?:false alarm|never mind|ignore (?:my|the) (?:last|previous|earlier)|forget (?:what|it)|my (?:bad|mistake|fault)|was on (?:our|my) side)\b/i;

export const isHistory = (text: string): boolean => HISTORY.test(text);

/**
 * A sentence that continues about the same thing: "It works now." A sentence such as "The login works now." may be
 * about another thing.
 */
const GOES_ON =
  /^(?:it|that|this|they|these|both|now|then|after|since|everything|all|today|fixed|solved|resolved|update|edit|retry|i|we|with|the (?:fix|retry|error|crash|failure|problem|issue|cause|second|next|rerun|same))\b/i;

const saysItEndedWell = (told: string): boolean => {
  const well = WELL.exec(told);
  return well !== null && !UNWELL.test(told.slice(Math.max(0, well.index - BEFORE_CHARS), well.index));
};

export function endedWell({ rest, later, following }: Clause): boolean {
  if (DISMISSED.test(`${rest}${later} ${following}`)) return true;
  return saysItEndedWell(`${rest}${later}`) || (GOES_ON.test(following) && saysItEndedWell(following));
}
