import { defined } from '../../protocol/json.ts';
/** One format of secret. All rules are listed in docs/redaction.md, and each has an example in the tests. */
export interface Rule {
  /** Stands in the text in place of the secret: `[redacted:<name>]`. */
  name: string;
  /** What it is, for the page that lists the rules. */
  about: string;
  /** At least one of these stands in every text that the rule can match, so that most texts skip most patterns. */
  anchors: readonly string[];
  /** Anchors are written in lower case and compared with the lower-cased text. */
  ignoreCase?: true;
  /** Linear. Without groups all of the match is the secret; else group 1 stays and group 2 is the secret. */
  pattern: RegExp;
  /** Refuses what only looks like a secret, such as a placeholder. `before` is what stays. */
  accept?: (secret: string, before: string) => boolean;
}

export const marker = (name: string): string => `[redacted:${name}]`;

/** What stands before a token: no letter and no digit, or a line break that JSON has spelled as two characters. */
const START = String.raw`(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))`;

/** A token that is known by how it begins (or by a part of it): the anchors are what it begins with. */
export const token = (
  name: string,
  about: string,
  anchors: string | readonly string[],
  body: string,
  accept?: (secret: string) => boolean,
): Rule => ({
  name,
  about,
  anchors: typeof anchors === 'string' ? [anchors] : anchors,
  pattern: new RegExp(START + body, 'g'),
  ...defined({ accept }),
});

/** Random text has letters and digits; a name in code or prose seldom has. */
export const hasDigitAndLetter = (text: string): boolean => /[0-9]/.test(text) && /[A-Za-z]/.test(text);
/** Random base64 of some length has all three kinds. */
export const isMixed = (text: string): boolean => hasDigitAndLetter(text) && /[a-z]/.test(text) && /[A-Z]/.test(text);
