import { ApplicationFailure } from '@temporalio/common';
import { condition, defineSignal, defineUpdate, log, setHandler } from '@temporalio/workflow';
import { isCancelled } from '../core/run/life.ts';
import { apply, check, ignore, type MessageAnswer } from '../core/run/messages.ts';
import type { RunState } from '../core/run/state.ts';
import { MESSAGE } from '../protocol/names.ts';

type MessageName = (typeof MESSAGE)[keyof typeof MESSAGE];

/**
 * Registers every message under its name twice: as a signal, which never fails a run, and as an update, which is refused
 * with its reason before it is accepted. Both use the same pure check and apply, and neither waits for the story.
 */
export function acceptMessages(state: RunState, now: () => number, onCancel: () => void): void {
  const take = (name: MessageName, body: unknown): MessageAnswer => {
    const checked = check(state, name, body);
    if (!checked.ok) throw refusal(checked);
    const answer = apply(state, checked.message, now());
    if (isCancelled(state)) onCancel();
    return answer;
  };

  for (const name of Object.values(MESSAGE)) {
    setHandler(defineSignal<[unknown]>(name), async (body) => {
      await ready(state, name);
      const checked = check(state, name, body);
      if (checked.ok) take(name, body);
      else ignoreMessage(state, name, checked, now());
    });
    const update = async (body: unknown): Promise<MessageAnswer> => {
      await ready(state, name);
      return take(name, body);
    };
    setHandler(defineUpdate<MessageAnswer, [unknown]>(name), update, {
      validator: (body) => {
        const checked = state.life.is === 'preparing' ? null : check(state, name, body);
        if (checked !== null && !checked.ok) throw refusal(checked);
      },
    });
  }
}

/** Messages that come before a bare start is prepared wait for it, because limits and options are not known yet. */
export async function ready(state: RunState, name?: MessageName): Promise<void> {
  if (name === MESSAGE.cancelRun) return;
  if (state.life.is === 'preparing') await condition(() => state.life.is !== 'preparing');
}

function ignoreMessage(state: RunState, name: MessageName, refused: Refused, now: number): void {
  const reason = reasonOf(refused);
  log.warn('message_ignored', { message: name, reason });
  ignore(state, name, reason, now);
}

type Refused = Extract<ReturnType<typeof check>, { ok: false }>;
const reasonOf = (refused: Refused): string =>
  refused.errors.map((error) => `${error.path}: ${error.message}`).join('; ');

const refusal = (refused: Refused): ApplicationFailure =>
  ApplicationFailure.create({
    message: reasonOf(refused),
    type: refused.problem,
    nonRetryable: true,
    details: [refused.errors],
  });
