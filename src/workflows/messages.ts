import { ApplicationFailure } from '@temporalio/common';
import { condition, defineSignal, defineUpdate, log, setHandler } from '@temporalio/workflow';
import type { RunState } from '../core/run/state.ts';
import { apply, check, ignore, type MessageAnswer } from '../core/run/messages.ts';
import { MESSAGE } from '../protocol/names.ts';

/** The state does not exist before a bare start is prepared; messages that come earlier wait for it. */
export interface StateHolder {
  state: RunState | null;
}

type MessageName = (typeof MESSAGE)[keyof typeof MESSAGE];

/**
 * One table for all messages: each name is a signal, which never fails a run, and an update, which is refused with its
 * reason before it is accepted. Both run the same pure check and apply, and neither waits for the story.
 */
export function acceptMessages(holder: StateHolder, now: () => number, onCancel: () => void): void {
  const take = (state: RunState, name: MessageName, body: unknown): MessageAnswer => {
    const checked = check(state, name, body);
    if (!checked.ok) throw refusal(checked);
    const answer = apply(state, checked.message, now());
    if (state.cancel !== null) onCancel();
    return answer;
  };

  for (const name of Object.values(MESSAGE)) {
    setHandler(defineSignal<[unknown]>(name), async (body) => {
      const state = await ready(holder);
      const checked = check(state, name, body);
      if (checked.ok) take(state, name, body);
      else ignored(state, name, checked, now());
    });
    setHandler(defineUpdate<MessageAnswer, [unknown]>(name), async (body) => take(await ready(holder), name, body), {
      validator: (body) => {
        const checked = holder.state === null ? null : check(holder.state, name, body);
        if (checked !== null && !checked.ok) throw refusal(checked);
      },
    });
  }
}

function ignored(state: RunState, name: MessageName, refused: Refused, now: number): void {
  const reason = told(refused);
  log.warn('message_ignored', { message: name, reason });
  ignore(state, name, reason, now);
}

export async function ready(holder: StateHolder): Promise<RunState> {
  if (holder.state === null) await condition(() => holder.state !== null);
  if (holder.state === null) throw new TypeError('A run without a state took a message.');
  return holder.state;
}

type Refused = Extract<ReturnType<typeof check>, { ok: false }>;
const told = (refused: Refused): string => refused.errors.map((error) => `${error.path}: ${error.message}`).join('; ');

const refusal = (refused: Refused): ApplicationFailure =>
  ApplicationFailure.create({
    message: told(refused),
    type: refused.problem,
    nonRetryable: true,
    details: [refused.errors],
  });
