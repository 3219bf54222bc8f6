import { ApplicationFailure } from '@temporalio/common';
import { condition, defineSignal, log, setHandler } from '@temporalio/workflow';
import { isCancelled } from '../core/run/life.ts';
import { apply, ignore, type MessageAnswer, receive, type RefusedMessage } from '../core/run/messages.ts';
import type { RunState } from '../core/run/state.ts';
import type { MessageType, RunMessage } from '../protocol/messages.ts';
import { MESSAGE } from '../protocol/names.ts';
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
      const received = receive(state, name, body);
      if (received.ok) take(received.message);
      else ignoreMessage(state, name, received, now());
    });
    const accept = (body: unknown): RunMessage => {
      const received = receive(state, name, body);
      if (!received.ok) throw refusal(received);
      return received.message;
    };
    handleUpdate<MessageAnswer>(name, {
      handle: async (body) => {
        await ready(state, name);
        return take(accept(body));
      },
      validate: (body) => void accept(body),
    });
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
