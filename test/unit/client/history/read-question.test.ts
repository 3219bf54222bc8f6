/** A question as a run published it, whoever wrote it: today's run, an older build, or somebody with access to Temporal. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readQuestion } from '../../../../src/client/history/read-question.ts';
import { SCHEMAS } from '../../../../src/api/schemas/all-schemas.ts';
import type { Json } from '../../../../src/protocol/json.ts';
import { aQuestion } from '../../../support/questions.ts';

describe('a published question', () => {
  it('is read as it was written', () => {
    const question = aQuestion({ step_id: 3, tool: 'pay', input: { a: 1 }, input_artifact_id: 'ab', reason: 'why' });
    expect(readQuestion(question as unknown as Json)).toEqual(question);
  });

  it('of an older build has neutral values for what that build did not say', () => {
    const old = {
      question_id: 'r:q1',
      text: 'May it?',
      tried: [],
      options: ['approve', 'stop'],
      asked_at: '2026-11-16T11:25:05.031Z',
      deadline: '2026-11-17T11:25:05.031Z',
    };
    expect(readQuestion(old)).toMatchObject({
      ...old,
      kind: 'failure',
      choices: [],
      if_unanswered: { decision: 'stop' },
    });
    expect(readQuestion(null)).toBeNull();
  });

  it('always fits the schema of the API, whatever stands there', () => {
    const names = [...Object.keys(aQuestion()), 'tool', 'input', 'step_id', 'reason', 'input_chars'];
    const anything = fc.record(Object.fromEntries(names.map((name) => [name, fc.jsonValue({ maxDepth: 2 })])), {
      requiredKeys: [],
    });
    fc.assert(
      fc.property(anything, (published) => {
        const question = readQuestion({ ...(published as { [key: string]: Json }), question_id: 'q' });
        const listed = { questions: [{ run_id: 'r', agent: 'a', goal: 'g', ...question }] };
        expect(SCHEMAS.Questions.safeParse(listed).error?.issues ?? []).toEqual([]);
      }),
    );
  });
});
