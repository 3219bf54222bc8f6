import { contentText, type Fields, isFields, textOf } from '../inspect/events.ts';

/** Fields that differ between two equal answers: how long a call took, and when. */
const VOLATILE = /^(?:duration|elapsed|took|timestamp|time)(?:_?(?:ms|seconds?|s))?$|(?:duration|elapsed)_?ms$/i;

/** Fields that have the text of an answer, in the order in which they are looked for. */
const TEXT_FIELDS = ['llmContent', 'content', 'output', 'result', 'text'] as const;

/**
 * Returns what a tool answered as the agent's transcript would have it: text where the answer has one. An agent gives a
 * hook the record of the call, which also has flags and times; those would make equal answers different.
 */
export const responseText = (response: unknown): unknown => {
  if (typeof response === 'string') return response;
  if (Array.isArray(response)) return contentText(response);
  if (!isFields(response)) return response ?? '';
  const { stdout, stderr, file } = response;
  if (typeof stdout === 'string' || typeof stderr === 'string') {
    return [textOf(stdout), textOf(stderr)].filter((part) => part !== null && part !== '').join('\n');
  }
  if (isFields(file) && typeof file['content'] === 'string') return file['content'];
  for (const name of TEXT_FIELDS) {
    const value = response[name];
    if (typeof value === 'string' || Array.isArray(value)) return contentText(value);
  }
  return withoutVolatile(response);
};

const withoutVolatile = (response: Fields): Fields =>
  Object.fromEntries(Object.entries(response).filter(([name]) => !VOLATILE.test(name)));

/** The error of an answer that says that the call failed, or null. */
export const responseError = (response: unknown): string | null => {
  if (!isFields(response)) return null;
  const { error, is_error, isError, success } = response;
  const said = isFields(error) ? (textOf(error['message']) ?? JSON.stringify(error)) : textOf(error);
  if (said !== null && said !== '') return said;
  if (is_error !== true && isError !== true && success !== false) return null;
  const text = responseText(response);
  return typeof text === 'string' && text !== '' ? text : 'failed';
};
