import type { Json } from '../../../protocol/json.ts';
import type { RunMessage } from '../../../protocol/messages.ts';
import { DECISIONS, type PendingQuestion } from '../../../protocol/questions.ts';
import { type Dice, createDice } from './dice.ts';
import { DICE, type Scene } from './scene.ts';

export interface SentMessage {
  afterMs: number;
  type: RunMessage['type'];
  body: Record<string, Json>;
}

const by = 'ada';
const OVERRIDE_ALL = { override_fatigue: true, override_max_reruns: true, override_by: by };

/** The messages that people send about a question, in order. They depend only on the seed and the question's number. */
export function drawReplies(scene: Scene, question: PendingQuestion): SentMessage[] {
  const { people, timely } = scene.character;
  if (people === 'silent') return [];
  const { question_id, options } = question;
  const dice = createDice(scene.seed, DICE.people, numberOf(question));
  const patience = scene.policy.humans.deadline_ms * (1 + scene.policy.humans.chain.length);
  if (people === 'relentless') {
    const decision = (['not_done', 'retry'] as const).find((wanted) => options.includes(wanted)) ?? 'approve';
    // At the last moment, so that the run waits as long as it can.
    return [{ afterMs: timely ? 0 : patience - 1, type: 'answer', body: { question_id, decision, by } }];
  }
  if (!timely && dice.chance(0.2)) return [];
  // Some answers come too late and must have no effect.
  const at = (): number => (timely ? 0 : dice.int(0, Math.ceil(patience * 1.2)));
  if (dice.chance(0.05)) return [{ afterMs: at(), type: 'cancel_run', body: { by, reason: 'enough' } }];
  const messages: SentMessage[] = [];
  if (dice.chance(0.2)) messages.push({ afterMs: at(), type: 'feedback', body: { text: 'hurry', by } });
  if (dice.chance(0.3)) messages.push({ afterMs: at(), type: 'override', body: override(dice) });
  const answer = (decision: string): SentMessage => ({
    afterMs: at(),
    type: 'answer',
    body: {
      question_id,
      decision,
      text: 'do it so',
      by,
      // Some give an output, and some of those outputs do not fit.
      ...(decision === 'done' && dice.chance(0.5) && { output: dice.pick<Json>([7, 'seven', { seven: 7 }]) }),
    },
  });
  if (dice.chance(0.2)) messages.push(answer(dice.pick(DECISIONS)));
  messages.push(answer(dice.pick(options)));
  if (dice.chance(0.2)) messages.push(answer(dice.pick(options)));
  return messages;
}

/** The messages that people send without a question, each time the run publishes a new state. */
export function drawUnaskedMessages(scene: Scene, nthShown: number): SentMessage[] {
  const { people, timely } = scene.character;
  if (timely || people === 'silent') return [];
  // Repeated overrides: the run must not accept more of them than its policy allows.
  if (people === 'relentless') return [{ afterMs: 0, type: 'override', body: OVERRIDE_ALL }];
  const dice = createDice(scene.seed, DICE.people, 0, nthShown);
  const messages: SentMessage[] = [];
  const at = (): number => dice.int(0, 5_000);
  if (dice.chance(0.2)) messages.push({ afterMs: at(), type: 'feedback', body: { text: 'hurry', by } });
  if (dice.chance(0.2)) messages.push({ afterMs: at(), type: 'override', body: override(dice) });
  if (dice.chance(0.1)) {
    messages.push({ afterMs: at(), type: 'answer', body: { question_id: 'nobody:q1', decision: 'retry', by } });
  }
  if (dice.chance(0.05)) messages.push({ afterMs: at(), type: 'override', body: { override_by: '' } });
  if (dice.chance(0.02)) messages.push({ afterMs: 10 * at(), type: 'cancel_run', body: { by } });
  return messages;
}

const override = (dice: Dice): SentMessage['body'] =>
  dice.pick<SentMessage['body']>([
    OVERRIDE_ALL,
    { override_fatigue: true, override_by: by },
    { override_max_reruns: true, override_by: by, override_reason: 'once more' },
  ]);

const numberOf = ({ question_id }: PendingQuestion): number => Number(question_id.split(':q').at(-1));
