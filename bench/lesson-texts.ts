/** Lessons in the words that runs produce. Seeded, so that every benchmark uses the same texts. */
import { describeFailure, buildLessonText } from '../src/core/lessons/lesson-text.ts';
import { seededRandom } from '../src/testing/simulator/seeded-random.ts';

const TOOLS = [
  'ledger',
  'mailer',
  'search',
  'browser',
  'compiler',
  'warehouse',
  'calendar',
  'printer',
  'crawler',
  'bank',
];
const VERBS = ['read', 'list'];
const CODES = ['ETIMEDOUT', 'ECONNRESET', 'RATE_LIMITED', 'SCHEMA_MISMATCH', 'NOT_FOUND', 'HTTP_503', 'NO_EVIDENCE'];
const ARGUMENTS = [
  'page_size',
  'region',
  'currency',
  'since',
  'format',
  'depth',
  'account',
  'language',
  'retries',
  'host',
];
const SYLLABLES = 'ba ce di fo gu ha le mi no pa que ri so tu va we xi yo zu an er in on st tion ing ment al'.split(
  ' ',
);
const VOCABULARY = 2_000;

export interface LessonToAsk {
  error_type: string;
  tool: string;
  /** The description of the failure, with which the lesson's content begins. */
  description: string;
  content: string;
}

export function lessonTexts(count: number, seed = 7): LessonToAsk[] {
  const random = seededRandom(seed);
  const one = (items: readonly string[]): string => items[Math.floor(random() * items.length)] ?? '';
  const words = Array.from({ length: VOCABULARY }, () =>
    Array.from({ length: 2 + Math.floor(random() * 3) }, () => one(SYLLABLES)).join(''),
  );
  /** As in natural language, a few words are frequent and most are rare. */
  const word = (): string => words[Math.floor(VOCABULARY ** random()) - 1] ?? '';
  const number = (): number => Math.floor(random() * 1_000);
  return Array.from({ length: count }, () => {
    const tool = `${one(TOOLS)}.${one(VERBS)}`;
    const argument = one(ARGUMENTS);
    const description = describeFailure(tool, one(CODES));
    const content =
      buildLessonText(description, {
        differences: ['arguments', 'reported'],
        tool_name: tool,
        arguments: [{ name: argument, value: number(), before: number() }],
        constraints: {},
        reported: Array.from({ length: 6 }, word).join(' '),
      }) ?? '';
    return { error_type: one(['tool_error', 'retrieval_failure', 'contract_violation']), tool, description, content };
  });
}
