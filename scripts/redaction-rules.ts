import { BLOCK_RULES, PEM_RULES } from '../src/core/redaction/block-rules.ts';
import { CONTEXT_RULES, NAMED_RULES } from '../src/core/redaction/context-rules.ts';
import type { Rule } from '../src/core/redaction/rule.ts';
import { TOKEN_RULES } from '../src/core/redaction/token-rules.ts';

/** The whole table, for the page that lists it and for the tests. */
export const ALL_RULES: readonly Pick<Rule, 'name' | 'about'>[] = [
  ...PEM_RULES,
  ...BLOCK_RULES,
  ...TOKEN_RULES,
  ...CONTEXT_RULES,
  ...NAMED_RULES,
];
