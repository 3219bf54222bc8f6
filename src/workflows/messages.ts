import { ActivityFailure, ApplicationFailure } from '@temporalio/common';
import { condition, defineSignal, log, setHandler } from '@temporalio/workflow';
import { inputToCheck } from '../core/run/edited-input.ts';
import { isCancelled } from '../core/run/life.ts';
import { apply, ignore, type MessageAnswer, receive, type RefusedMessage } from '../core/run/messages.ts';
import type { RunState } from '../core/run/state.ts';
import type { MessageType, RunMessage } from '../protocol/messages.ts';
import { MESSAGE } from '../protocol/names.ts';
import { checkInput } from './activity-proxies.ts';
import { handleUpdate } from './readable.ts';

/**
 * Registers every message under its name twice: as a signal, which never fails a run, and as an update, which is refused
 * with its reason before it is accepted. Both use the same pure functions, and neither waits for the story.
 */
export function acceptMessages(state: RunState, now: () => number, onCancel: () => void): void {
  const take = (message: RunMessage): MessageAnswer => {
    const answer = apply(state, message, now());
    if (isCancelled(state)) onCancel();
    return answer;
  };

  for (const name of Object.values(MESSAGE)) {
    setHandler(defineSignal<[unknown]>(name), async (body) => {
      await ready(state, name);
      const received = await checkGivenInput(state, receive(state, name, body));
      if (received.ok) take(received.message);
      else ignoreMessage(state, name, received, now());
    });
    const accept = (received: ReturnType<typeof receive>): RunMessage => {
      if (!received.ok) throw refusal(received);
      return received.message;
    };
    handleUpdate<MessageAnswer>(name, {
      handle: async (body) => {
        await ready(state, name);
        return take(accept(await checkGivenInput(state, receive(state, name, body))));
      },
      validate: (body) => void accept(receive(state, name, body)),
    });
  }
}

/**
 * Has a worker check the input that a person gives with `approve`, because only a worker knows the schema of the tool. Until
 * then the question stays open. A message without an input is not held up.
 */
async function checkGivenInput<Received extends ReturnType<typeof receive>>(
  state: RunState,
  received: Received,
): Promise<Received | RefusedMessage> {
  if (!received.ok || received.message.type !== 'answer') return received;
  const request = inputToCheck(state, received.message);
  if (request === null) return received;
  try {
    const checked = await checkInput(request);
    return checked.ok ? received : { ok: false, problem: 'bad_body', errors: checked.problems };
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    const message = `it could not be checked (${error.cause?.message ?? error.message}); send the answer again`;
    return { ok: false, problem: 'bad_body', errors: [{ path: '$.input', message }] };
  }
}

/** Waits until a bare start is prepared, because limits and options are not known before. */
export async function ready(state: RunState, name?: MessageType): Promise<void> {
  if (name === MESSAGE.cancelRun) return;
  if (state.life.is === 'preparing') await condition(() => state.life.is !== 'preparing');
}

function ignoreMessage(state: RunState, name: MessageType, refused: RefusedMessage, now: number): void {
  const reason = reasonOf(refused);
  log.warn('message_ignored', { message: name, reason });
  ignore(state, name, reason, now);
}

const reasonOf = (refused: RefusedMessage): string =>
  refused.errors.map((error) => `${error.path}: ${error.message}`).join('; ');

const refusal = (refused: RefusedMessage): ApplicationFailure =>
  ApplicationFailure.create({
    message: reasonOf(refused),
    type: refused.problem,
    nonRetryable: true,
    details: [refused.errors],
  });
