import { ApplicationFailure, defaultPayloadConverter, RawValue, rawValueTypeInfo } from '@temporalio/common';
import { defineQuery, defineUpdate, setHandler } from '@temporalio/workflow';
import { PAYLOAD_MARK } from '../protocol/payload-marks.ts';

/** The failure converter (`failure-converter.cjs`) knows the same symbol. */
const READABLE = Symbol.for('secondwind.readable');
const MARK = new Uint8Array([1]);

/** The value as a payload that the codec does not encrypt. */
function readable(value: unknown): RawValue {
  const { metadata, data } = defaultPayloadConverter.toPayload(value);
  return RawValue.fromPayload({ metadata: { ...metadata, [PAYLOAD_MARK.readable]: MARK }, data: data ?? null });
}

/**
 * Answers a query so that the bare `temporal` command can read it. Answers to queries are never stored, so encryption would
 * protect nothing.
 */
export function answerQuery(name: string, answer: (argument: unknown) => unknown): void {
  setHandler(defineQuery<unknown, [unknown]>(name), (argument) => readable(answer(argument)));
}

export interface UpdateHandler<Answer> {
  handle: (...args: unknown[]) => Answer | Promise<Answer>;
  validate: (...args: unknown[]) => void;
}

/**
 * Handles an update. Its answer is stored in history and may repeat what the caller wrote, so it is as readable as the request
 * was: encrypted for a caller that encrypts, in plain JSON for the bare `temporal` command. The same holds for a refusal.
 */
export function handleUpdate<Answer>(name: string, { handle, validate }: UpdateHandler<Answer>): void {
  const definition = defineUpdate<unknown, RawValue[]>(name, {
    typeInfo: { inputTypes: Array.from({ length: MAX_ARGUMENTS }, () => rawValueTypeInfo) },
  });
  const update = async (...given: RawValue[]): Promise<unknown> => {
    try {
      const answer = await handle(...given.map(valueOf));
      return wasEncrypted(given) ? answer : readable(answer);
    } catch (error) {
      throw refusal(error, given);
    }
  };
  const validator = (...given: RawValue[]): void => {
    try {
      validate(...given.map(valueOf));
    } catch (error) {
      throw refusal(error, given);
    }
  };
  setHandler(definition, update, { validator });
}

const MAX_ARGUMENTS = 2;

const valueOf = (raw: unknown): unknown =>
  raw instanceof RawValue ? defaultPayloadConverter.fromPayload(raw.payload) : raw;
const wasEncrypted = (given: readonly unknown[]): boolean =>
  given.some((raw) => raw instanceof RawValue && raw.payload.metadata?.[PAYLOAD_MARK.wasEncrypted] !== undefined);

function refusal(error: unknown, given: readonly RawValue[]): unknown {
  if (!(error instanceof ApplicationFailure) || wasEncrypted(given)) return error;
  const { message, type, nonRetryable, details } = error;
  const plain = ApplicationFailure.create({
    message,
    ...(type && { type }),
    nonRetryable: nonRetryable ?? false,
    details: (details ?? []).map(readable),
  });
  return Object.assign(plain, { [READABLE]: true });
}
