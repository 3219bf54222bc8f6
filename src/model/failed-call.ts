import { defined } from '../protocol/json.ts';
import type { ErrorFacts } from '../core/retry/error-facts.ts';
import { classifyError, type ClassifiedError } from '../core/retry/classify-error.ts';
import { readErrorFacts } from '../core/retry/read-error-facts.ts';

/** What a thrown error means for the call: a verdict, and the words to show. */
export interface ThrownVerdict extends ClassifiedError {
  message: string;
}

type Bag = Record<string, unknown>;
const isBag = (value: unknown): value is Bag => typeof value === 'object' && value !== null;

/** The AI SDK throws these errors before it sends anything. */
const BEFORE_SENDING: ReadonlySet<string> = new Set([
  'AI_InvalidPromptError',
  'AI_InvalidArgumentError',
  'AI_MissingToolResultsError',
  'AI_InvalidMessageRoleError',
  'AI_UnsupportedFunctionalityError',
  'AI_UnsupportedModelVersionError',
  'AI_NoSuchModelError',
  'AI_LoadSettingError',
]);

/** Classifies an error that was thrown while a model was asked. It never throws. */
export function classifyThrown(error: unknown, nowMs: number): ThrownVerdict {
  try {
    return read(error, nowMs);
  } catch {
    // A getter of the error may throw; the call has still failed.
    return { category: 'unknown_error', error_code: 'UNKNOWN_ERROR', certainty: 'unknown', message: NO_WORDS };
  }
}

const NO_WORDS = 'the model failed without a message';

function read(error: unknown, nowMs: number): ThrownVerdict {
  const bag: Bag = isBag(error) ? error : {};
  const name = typeof bag['name'] === 'string' ? bag['name'] : '';
  const message = typeof bag['message'] === 'string' ? bag['message'] : NO_WORDS;
  if (name === 'AI_LoadAPIKeyError') return { ...notSent('auth', 'API_KEY_MISSING'), message };
  if (BEFORE_SENDING.has(name)) return { ...notSent('invalid_input', 'INVALID_MODEL_REQUEST'), message };
  if (errorCodes(error).includes('ANSWER_TOO_LARGE')) return { ...unreadable('ANSWER_TOO_LARGE'), message };
  // The status is a success and the body is complete, so it is the body that cannot be read as an answer.
  const body = responseBody(bag);
  const status = typeof bag['statusCode'] === 'number' ? bag['statusCode'] : null;
  const wasAnswered = status !== null && status < 400 && body !== null;
  if (name === 'AI_InvalidResponseDataError' || (wasAnswered && errorIn(body) === null)) {
    return { ...unreadable('BAD_JSON'), message: 'the answer of the model cannot be read' };
  }
  const facts = { ...readErrorFacts(error), ...answeredFacts(bag, body) };
  const classified = classifyError(facts, nowMs);
  // An unknown error without a status does not say whether tokens were used.
  const isGuess = classified.category === 'unknown_error' && facts.http_status === undefined;
  return { ...classified, ...(isGuess ? { certainty: 'unknown' as const } : {}), message: facts.message ?? message };
}

const notSent = (category: 'auth' | 'invalid_input', error_code: string): ClassifiedError => ({
  category,
  error_code,
  certainty: 'not_started',
});

/** An answer arrived but cannot be read, so the tokens that it used are unknown. */
const unreadable = (error_code: string): ClassifiedError => ({
  category: 'contract_violation',
  error_code,
  certainty: 'unknown',
});

/** What the answer of a server says of itself, in the places where the AI SDK keeps it. */
function answeredFacts(bag: Bag, body: string | null): ErrorFacts {
  const status = typeof bag['statusCode'] === 'number' ? bag['statusCode'] : undefined;
  const headers = isBag(bag['responseHeaders']) ? bag['responseHeaders'] : {};
  const told = errorIn(body);
  // Gateways answer 200 and put the status of the model's server into the body.
  const inner = typeof told?.['code'] === 'number' ? told['code'] : undefined;
  const http_status = status !== undefined && status >= 400 ? status : inner;
  const word = [told?.['code'], told?.['type']].find((value): value is string => typeof value === 'string');
  const waitMs = Number(headers['retry-after-ms'] ?? Number.NaN);
  return {
    ...defined({ http_status }),
    ...(typeof headers['retry-after'] === 'string' ? { retry_after: headers['retry-after'] } : {}),
    ...(Number.isFinite(waitMs) && waitMs >= 0 ? { retry_after_ms: waitMs } : {}),
    ...defined({ provider_error_type: word }),
    ...(typeof told?.['message'] === 'string' ? { message: told['message'] } : {}),
  };
}

const responseBody = (bag: Bag): string | null =>
  typeof bag['responseBody'] === 'string' ? bag['responseBody'] : null;

/** What a body says went wrong: under `error`, as OpenAI has it, or at the top, as vLLM and FastAPI have it. */
function errorIn(body: string | null): Bag | null {
  if (body === null) return null;
  try {
    const parsed: unknown = JSON.parse(body);
    const [top] = Array.isArray(parsed) ? (parsed as unknown[]) : [parsed];
    if (!isBag(top) || 'choices' in top) return null;
    const told = top['error'];
    if (isBag(told)) return told;
    const { type, code, detail } = top;
    const message = [told, top['message'], detailText(detail)].find((words) => typeof words === 'string');
    return message === undefined ? null : { message, type, code };
  } catch {
    return null;
  }
}

/** A text, or a list of what is wrong where. */
function detailText(detail: unknown): string | undefined {
  if (typeof detail === 'string') return detail;
  if (isBag(detail) && typeof detail['message'] === 'string') return detail['message'];
  const texts = Array.isArray(detail) ? detail.map((one: unknown) => (isBag(one) ? one['msg'] : one)) : [];
  const words = texts.filter((text) => typeof text === 'string').join('; ');
  return words === '' ? undefined : words;
}

const MAX_DEPTH = 5;

function errorCodes(error: unknown): unknown[] {
  const codes: unknown[] = [];
  for (let next = error; isBag(next) && codes.length < MAX_DEPTH; next = next['cause']) codes.push(next['code']);
  return codes;
}
