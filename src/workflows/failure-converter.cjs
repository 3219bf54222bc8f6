// @ts-check
// JavaScript, and CommonJS: a worker loads this file with `require`, and the workflow bundle includes it too.
const { DefaultFailureConverter } = require('@temporalio/common');

/** Errors without secrets: their message tells an operator which key is missing. */
const PLAIN_NAMES = new Set(['EncryptionKeyError']);
const READABLE = Symbol.for('secondwind.readable');

/** @param {unknown} error */
function isReadable(error) {
  if (!(error instanceof Error)) return false;
  return READABLE in error || PLAIN_NAMES.has(error.name) || ('type' in error && PLAIN_NAMES.has(String(error.type)));
}

/**
 * Moves message and stack of a failure into a payload, which the codec encrypts. The refusal of an update that arrived in plain
 * JSON stays readable, because the bare `temporal` command shows nothing else.
 */
class EncodingFailureConverter extends DefaultFailureConverter {
  /**
   * @override
   * @type {import('@temporalio/common').FailureConverter['errorToFailure']}
   */
  errorToFailure(error, payloadConverter, context) {
    // A copy, because a failure that came from history is kept in its error and may be sent again.
    const failure = { ...this.errorToFailureInner(error, payloadConverter, context) };
    if (isReadable(error)) return failure;
    const { message, stackTrace } = failure;
    failure.encodedAttributes = payloadConverter.toPayload({ message, stack_trace: stackTrace }, context);
    failure.message = 'Encoded failure';
    failure.stackTrace = '';
    return failure;
  }
}

exports.failureConverter = new EncodingFailureConverter();
