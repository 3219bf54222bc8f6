import { readContext, detectFramework } from './context.ts';
import { isNoJudgement } from './judgement.ts';
import { findListedLines } from './listing.ts';
import { isHarmless } from './negation.ts';
import { FAMILIES, type Family } from './patterns.ts';
import { isQuiet, proseLines, createQuietState } from './quiet-lines.ts';
import { asksForChange, asksToRedo, readRemark } from './remarks.ts';
import { splitLines, normalizeText, toOneLine, splitSentences, cutToScanLimit, type Sentence } from './scanned-text.ts';
import {
  FEEDBACK_TYPES,
  type Detection,
  type FeedbackContext,
  type FeedbackMatch,
  type FeedbackType,
} from './types.ts';

/** Confidence in tenths, so that sums stay exact. */
const BASE_TENTHS = 5;
const BOOST_TENTHS: Record<FeedbackType, number> = {
  runtime_error: 3,
  verification_failure: 2,
  user_rejection: 2,
  partial_success: 1,
};
const MATCH_TEXT_CHARS = 120;

/** "got the expected error: EOF", "no fatal: …": the words just before say that the failure was expected or denied. */
const FORESEEN = /\b(?:expected|no|without|0) $/i;

/** `match x { // error: …`: a comment at the end of a line of code. */
const REMARKED = /\S\s{1,40}(?:\/\/|#)\s{0,4}$/;

type Found = Map<Family, FeedbackMatch>;

function reportIn(family: Family, line: string): string | null {
  for (const regex of family.reports) {
    const hit = regex.exec(line);
    if (hit === null) continue;
    const before = line.slice(0, hit.index + 1);
    if (!FORESEEN.test(before) && !REMARKED.test(before)) return hit[0];
  }
  return null;
}

function wordIn(type: FeedbackType, family: Family, sentence: Sentence): string | null {
  for (const regex of family.words) {
    // `matchAll` would compile a copy of the pattern for every sentence, which costs more than the search.
    regex.lastIndex = 0;
    for (let hit = regex.exec(sentence.text); hit !== null; hit = regex.exec(sentence.text)) {
      const rejects = type === 'user_rejection';
      const harmless =
        rejects || type === 'partial_success'
          ? isNoJudgement(sentence, hit.index, hit[0], rejects)
          : isHarmless(sentence, hit.index, hit.index + hit[0].length);
      if (!harmless) return hit[0];
    }
  }
  return null;
}

/** One pass over the lines. A family that was found is not searched again. */
function findMatches(lines: string[]): { found: Found; firstReport: string | null } {
  const found: Found = new Map();
  const quiet = createQuietState();
  const isProse = proseLines(lines);
  const listed = findListedLines(lines);
  let afterQuestion = false;
  let firstReport: string | null = null;
  for (const [index, line] of lines.entries()) {
    if (!/\w/.test(line) || isQuiet(line, quiet) || listed?.[index] === true) continue;
    const sentences: Sentence[] = isProse(index) ? splitSentences(line, afterQuestion) : [];
    afterQuestion = sentences.at(-1)?.question ?? false;
    for (const type of FEEDBACK_TYPES) {
      for (const family of FAMILIES[type]) {
        if (found.has(family)) continue;
        let text = reportIn(family, line);
        if (text !== null && type === 'runtime_error') firstReport ??= line;
        for (const sentence of text === null ? sentences : []) text ??= wordIn(type, family, sentence);
        if (text !== null) {
          const match = { feedback_type: type, pattern: family.pattern, text: toOneLine(text, MATCH_TEXT_CHARS) };
          found.set(family, match);
        }
      }
    }
  }
  return { found, firstReport };
}

function boosted(type: FeedbackType, text: string, context: FeedbackContext): boolean {
  switch (type) {
    case 'runtime_error':
      return context.stack_trace === true || context.error_message !== undefined;
    case 'verification_failure':
      return context.test_name !== undefined;
    case 'user_rejection':
      return asksToRedo(text);
    case 'partial_success':
      return asksForChange(text);
  }
}

/**
 * Detects which kind of failure a text reports, if any. It is a pure function, linear in the length of the text. Of
 * texts longer than SCAN_LIMIT_CHARS only the start and the end are read (scanned-text.ts).
 */
export function detectFeedback(text: string): Detection {
  const read = normalizeText(cutToScanLimit(text));
  const lines = splitLines(read);
  const { found, firstReport } = findMatches(lines);
  if (found.size === 0) return { feedback_type: null, confidence: 0, matches: [], context: {} };

  const context = readContext(lines);
  if (firstReport !== null) context.error_message ??= toOneLine(firstReport);
  const framework = detectFramework(read);
  if (framework !== undefined) context.framework = framework;

  let matches = [...found.values()];
  // An error inside a failed test, build or check is the reason of that failure, not a second one.
  if (matches.some((match) => match.feedback_type === 'verification_failure'))
    matches = matches.filter((match) => match.feedback_type !== 'runtime_error');

  let best: FeedbackType | null = null;
  let bestTenths = 0;
  for (const type of FEEDBACK_TYPES) {
    const families = matches.filter((match) => match.feedback_type === type).length;
    if (families === 0) continue;
    const boost = boosted(type, read, context) ? BOOST_TENTHS[type] : 0;
    const tenths = Math.min(10, BASE_TENTHS + families - 1 + boost);
    // Strictly greater, so that on a tie the earlier type stays. The types are listed in tie order.
    if (tenths > bestTenths) [best, bestTenths] = [type, tenths];
  }
  if (best === null) return { feedback_type: null, confidence: 0, matches: [], context: {} };
  return {
    feedback_type: best,
    confidence: bestTenths / 10,
    matches,
    context: { ...context, ...readRemark(read, best) },
  };
}
