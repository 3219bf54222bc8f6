import { detectFeedback } from '../../core/feedback/detect.ts';
import type { Redact } from '../../core/redaction/redact.ts';
import type { Json } from '../../protocol/json.ts';
import type { DetectedFeedback } from '../../protocol/tools.ts';
import { toWellFormed } from '../../protocol/well-formed-text.ts';
import { truncate, headAndTail } from './shorten-text.ts';

const SCANNED_CHARS = 64 * 1024;
const SIGNAL_CHARS = 600;

/** Detects feedback in a tool's text. A test runner's "2 failed" counts, whatever its exit code was. */
export function detectFeedbackInText(text: string, redact: Redact): DetectedFeedback | undefined {
  const scanned = redact(headAndTail(text, SCANNED_CHARS));
  const found = detectFeedback(scanned);
  if (found.feedback_type === null) return undefined;
  const { feedback_type, confidence } = found;
  const told = found.matches.filter((match) => match.feedback_type === feedback_type).map((match) => match.text);
  const { error_message, test_name, expected, actual } = found.context;
  const words = [...told, test_name, error_message, expected, actual].filter((word) => word !== undefined);
  return { feedback_type, confidence, signal: extractSignal(scanned, words, feedback_type) };
}

/**
 * Extracts the lines that led to the detection. Detecting again in the extract has to give the same type, because the
 * prompt of a retry is refined from it. If single lines are not enough for that, the end of the text is used.
 */
function extractSignal(text: string, words: string[], type: string): string {
  const lines = text
    .split('\n')
    .map((line) => line.replaceAll(/\s+/g, ' ').trim())
    .filter((line) => words.some((word) => line.includes(word.replace(/…$/, ''))));
  const excerpt = clean([...new Set(lines)].slice(0, 8).join('\n'));
  if (detectFeedback(excerpt).feedback_type === type) return excerpt;
  return clean(text.slice(-SIGNAL_CHARS));
}

/* oxlint-disable no-control-regex -- control characters are what is to be removed */
const clean = (text: string): string =>
  truncate(
    toWellFormed(
      text.replaceAll(/\u001b\[[0-9;:?]{0,40}[A-Za-z]/g, '').replaceAll(/[\u0000-\u0009\u000b-\u001f]/g, ' '),
    ),
    SIGNAL_CHARS,
  );
/* oxlint-enable no-control-regex */

/** Collects every text inside an output, in order, up to the number of characters that the detection reads. */
export function collectText(output: Json): string {
  const texts: string[] = [];
  const visit = (value: Json): void => {
    if (typeof value === 'string') texts.push(value);
    else if (Array.isArray(value)) value.forEach(visit);
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(visit);
  };
  visit(output);
  return texts.join('\n');
}
