import { BLOCK_RULES, PEM_RULES } from './block-rules.ts';
import { CONTEXT_RULES, NAMED_RULES } from './context-rules.ts';
import { marker, type Rule } from './rule.ts';
import { NAME_ANCHORS } from './secret-names.ts';
import { TOKEN_RULES } from './token-rules.ts';

/**
 * Takes out what the rules know, in one pass. Most text holds no secret, so each kind of rule has a quick way to see that
 * it need not be tried: tokens are looked for in long words only, named values only beside their names, and everything else
 * only where an anchor of the rule stands.
 */
export function redactByRules(text: string): string {
  const clean = withoutTokens(withContext(text, PEM_RULES));
  return withoutBlocks(withoutNamed(withContext(clean, CONTEXT_RULES)));
}

function withContext(text: string, rules: readonly Rule[]): string {
  let clean = text;
  let lower: string | undefined;
  for (const rule of rules) {
    if (rule.ignoreCase === true) lower ??= text.toLowerCase();
    const searched = rule.ignoreCase === true ? (lower ?? '') : text;
    if (rule.anchors.some((anchor) => searched.includes(anchor))) clean = applied(rule, clean);
  }
  return clean;
}

const applied = (rule: Rule, text: string): string =>
  text.replace(rule.pattern, (...match: unknown[]) => {
    const [whole, kept, secret] = match as [string, string | number, string | undefined];
    // Without groups the second argument is the offset of the match.
    return typeof kept === 'number' ? replaced(rule, whole, '', whole) : replaced(rule, whole, kept, secret ?? '');
  });

const replaced = ({ name, accept }: Rule, whole: string, kept: string, secret: string): string =>
  accept !== undefined && !accept(secret, kept) ? whole : kept + marker(name);

/** Every token is a part of such a word. */
const LONG_WORD = /[A-Za-z0-9_.+/=~:@-]{15,}/g;
const escaped = (literal: string): string => literal.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`);
const ANY_TOKEN = new RegExp(TOKEN_RULES.flatMap(({ anchors }) => anchors.map(escaped)).join('|'));

function withoutTokens(text: string): string {
  const found = new Set<Rule>();
  for (const { 0: word, index } of text.matchAll(LONG_WORD)) {
    if (!ANY_TOKEN.test(word)) continue;
    // With the two characters before it, which may be a line break that JSON has spelled.
    const seen = text.slice(Math.max(0, index - 2), index + word.length);
    for (const rule of TOKEN_RULES) {
      if (!found.has(rule) && rule.anchors.some((anchor) => word.includes(anchor)) && seen.search(rule.pattern) !== -1)
        found.add(rule);
    }
  }
  let clean = text;
  for (const rule of TOKEN_RULES) if (found.has(rule)) clean = applied(rule, clean);
  return clean;
}

/** The named rules are tried where one of the words stands that every such name has. */
function withoutNamed(text: string): string {
  const lower = text.toLowerCase();
  // A few letters change their length with their case; then the positions would not fit.
  const searched = lower.length === text.length ? lower : text;
  const positions = NAME_ANCHORS.flatMap((anchor) => positionsOf(searched, anchor)).sort((one, other) => one - other);
  let clean = '';
  let done = 0;
  for (const position of positions) {
    if (position < done) continue;
    for (const rule of NAMED_RULES) {
      rule.pattern.lastIndex = position;
      const match = rule.pattern.exec(text);
      const [whole, kept = '', secret = ''] = match ?? [];
      if (whole === undefined || (rule.accept !== undefined && !rule.accept(secret, kept))) continue;
      clean += text.slice(done, position) + kept + marker(rule.name);
      done = position + whole.length;
      break;
    }
  }
  return done === 0 ? text : clean + text.slice(done);
}

function positionsOf(text: string, part: string): number[] {
  const positions: number[] = [];
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + 1)) positions.push(at);
  return positions;
}

function withoutBlocks(text: string): string {
  let clean = text;
  for (const rule of BLOCK_RULES) if (clean.includes(rule.anchor)) clean = rule.apply(clean);
  return clean;
}
