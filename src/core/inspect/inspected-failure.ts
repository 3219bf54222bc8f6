import { fingerprintOf } from '../failures/fingerprint.ts';
import { salientLine } from '../failures/salient-line.ts';
import { createRedactor } from '../redaction/redact.ts';
import { errorLine, failureLine, judgeResult } from '../stuck/result-text.ts';

export interface InspectedFailure {
  fingerprint: string;
  tool: string;
  count: number;
  /** `failed` if the record says so, `unknown` if only the text of the answer does. */
  certainty: 'failed' | 'unknown';
  example: string;
}

/** Reports and states of guards are kept and shared, so no secret may be in them. */
const redact = createRedactor();
const EXAMPLE_CHARS = 200;
const SCANNED_CHARS = 8000;

/** An answer of a tool. `error` is whether the agent's own record says that the call failed, if it says anything. */
export interface AnswerText {
  tool: string;
  text: string;
  error: boolean | undefined;
}

/** Returns the fingerprint of the failure that an answer tells of, or null if it tells of none. */
export const fingerprintAnswer = ({ tool, text, error }: AnswerText): string | null =>
  judgeResult(text, error) === 'failed'
    ? fingerprintOf({ signal_type: 'tool_error', tool_name: tool, error_code: null, message: errorLine(text) })
    : null;

/** Describes a failure that was seen for the first time. */
export const describeFailure = (fingerprint: string, { tool, text, error }: AnswerText): InspectedFailure => ({
  fingerprint,
  tool,
  count: 1,
  certainty: error === true ? 'failed' : 'unknown',
  // An agent may say only that a command failed; then there is no other line.
  example: redact(failureLine(text) || salientLine(text.slice(0, SCANNED_CHARS))).slice(0, EXAMPLE_CHARS),
});
