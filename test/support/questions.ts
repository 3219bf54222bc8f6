import type { PendingQuestion } from '../../src/protocol/questions.ts';

const amounts = { steps: 1, attempts: 2, model_calls: 1, tokens: 340, cost_micro_usd: 12_000, seconds: 34 };

/** A complete question, for tests of what shows one. */
export const aQuestion = (over: Partial<PendingQuestion> = {}): PendingQuestion => ({
  question_id: 'run-7:q1',
  kind: 'failure',
  text: 'Step 1 (work, pay) failed. What should happen?',
  tried: ['Attempt 1 failed (HTTP_503: upstream is away).'],
  budget: { used: amounts, limit: { ...amounts, cost_micro_usd: null }, cost_known: true },
  options: ['retry', 'stop'],
  choices: [
    { option: 'retry', does: 'The call runs once more with the same input.' },
    { option: 'stop', does: 'The run ends with its results so far.' },
  ],
  asked_at: '2026-03-01T09:00:00.000Z',
  deadline: '2026-03-02T09:00:00.000Z',
  if_unanswered: { decision: 'stop', does: 'The policy decides stop: the run ends with its results so far.' },
  ...over,
});
