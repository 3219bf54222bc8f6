/** A person's correction on its way to the model: the story, the real planner turn, real tools, a scripted model. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../../src/define/define-agent.ts';
import { defineTool } from '../../../src/define/define-tool.ts';
import { ToolError } from '../../../src/define/tool-error.ts';
import type { PolicyPatch } from '../../../src/protocol/schemas/policy.ts';
import { scriptedModel, type Script } from '../../../src/testing.ts';
import type { World } from '../../../src/testing/simulator/simulate-run.ts';
import { liveThinking } from '../../support/thinking.ts';

/** Lines, quotes, a fence, tabs, double spaces and characters beyond ASCII: all of it has to arrive as it is. */
const TEXT = 'Use account "B",  not \\A\\.\n\n"""\n## then\tsay: “grüße” 👋\n';

/** Answers the questions of a run in their order. */
const answering = (...answers: object[]): Partial<World> => {
  const asked = new Set<string>();
  return {
    react: ({ question }, send) => {
      if (question === null || asked.has(question.question_id)) return;
      const answer = answers[asked.size];
      asked.add(question.question_id);
      if (answer !== undefined) send(1, 'answer', { question_id: question.question_id, by: 'ada', ...answer });
    },
  };
};

async function think(script: Script, policy: PolicyPatch, world: Partial<World>, more: Partial<AgentOptions> = {}) {
  const charged: string[] = [];
  const model = scriptedModel(script);
  const charge = defineTool({
    name: 'charge',
    effect: 'idempotent',
    input: z.object({ account: z.string() }),
    output: z.json(),
    run: ({ account }) => {
      charged.push(account);
      if (account === 'B') return { charged: account };
      throw new ToolError('this account is closed', { category: 'auth', code: 'CLOSED' });
    },
  });
  const look = defineTool({
    name: 'look',
    effect: 'read',
    input: z.object({}),
    output: z.json(),
    run: () => ({ seen: 'nothing new' }),
  });
  const agent = defineAgent({ name: 'clerk', instructions: 'Work.', model, tools: [charge, look], ...more });
  const lived = await liveThinking([agent], { policy }, world);
  const last = (turn: number): string => {
    const message = model.exchanges[turn - 1]?.request.messages.at(-1);
    return message?.role === 'user' ? message.text : '';
  };
  return { ...lived, charged, last };
}
type AgentOptions = Parameters<typeof defineAgent>[0];
const calls = (account: string) => ({ calls: [{ tool: 'charge', input: { account } }] });

describe('a correction of a step that a model chose', () => {
  const corrected = (policy: PolicyPatch = {}, text = TEXT) =>
    think(
      [calls('A'), calls('B'), { text: 'done' }],
      { ...policy, failures: { escalate_at: 1, ...policy.failures } },
      answering({ decision: 'correct', text }),
    );

  it('goes to the model, byte for byte, and the step is not run again with the same arguments', async () => {
    const { result, charged, views, last } = await corrected();
    expect(result).toMatchObject({ outcome: 'completed', questions: 1 });
    expect(charged).toEqual(['A', 'B']);
    expect(last(2)).toContain(TEXT);
    expect(views[1]?.guidance.rows[0]?.text).toMatch(/^If the work of step 1 \(charge\) .* as "ada" said:\n/);
    // The quote has marks that the text does not have, so the text cannot end it.
    expect(views[1]?.guidance.rows[0]?.text.split('\n"""""').length).toBe(1);
    expect(views[1]?.guidance.rows[0]?.text.split('""""\n').length).toBe(2);
  });

  it('is the first row, and the failure that it is about keeps its fingerprint and relevance behind it', async () => {
    const { views, state } = await corrected();
    const failure = state.failures.by_fingerprint.find(({ error_code }) => error_code === 'CLOSED');
    expect(views[1]?.guidance.rows.map(({ relevance, fingerprint }) => [relevance, fingerprint])).toEqual([
      [4, expect.stringContaining('human_correction:charge:CORRECTED')],
      [4, failure?.fingerprint],
    ]);
  });

  it('is kept as an artifact with its author, to which the record and the row of guidance lead', async () => {
    const { views, records, archives } = await corrected();
    const batches = [...records, ...archives.map((archive) => archive.pending)];
    const record = batches.flatMap((batch) => batch.records).find((one) => one.signal_type === 'human_correction');
    expect(views[1]?.guidance.rows[0]?.failure_id).toBe(record?.failure_id);
    expect(record?.observed_outcome.message_preview).toBe(`ada: ${TEXT}`);
    const [id] = record?.context_refs.artifact_ids ?? [];
    const kept = batches.flatMap((batch) => batch.artifacts).find((artifact) => artifact.id === id);
    expect(JSON.parse(kept?.text ?? '')).toEqual({ run_id: 'run-1', step_id: 1, by: 'ada', text: TEXT });
  });

  it('is shown uncut up to 4,000 characters, however little guidance the policy allows', async () => {
    const long = `${'x'.repeat(3_990)} the end`.slice(0, 4_000);
    const { last } = await corrected({ failures: { guidance_k: 0, guidance_max_chars: 200 } }, long);
    expect(last(2)).toContain(long);
  });

  it('stands in every later request of the run, the latest correction first', async () => {
    const { charged, last } = await think(
      [calls('A'), calls('C'), { calls: [{ tool: 'look', input: {} }] }, calls('B'), { text: 'done' }],
      { failures: { escalate_at: 1 } },
      answering({ decision: 'correct', text: 'first' }, { decision: 'correct', text: 'second' }),
    );
    expect(charged).toEqual(['A', 'C', 'B']);
    expect([2, 3, 4, 5].map((turn) => last(turn).match(/^(first|second)$/gm))).toEqual([
      ['first'],
      ['second', 'first'],
      ['second', 'first'],
      ['second', 'first'],
    ]);
  });

  it('goes to the model when its call repeats itself, and the call does not run', async () => {
    const looks = { calls: [{ tool: 'look', input: {} }] };
    const {
      result,
      last,
      calls: ran,
    } = await think(
      [looks, looks, looks, looks, looks, looks, looks, calls('B'), { text: 'done' }],
      {},
      answering({ decision: 'correct', text: TEXT }),
    );
    expect(result).toMatchObject({ outcome: 'completed', questions: 1 });
    // Four calls run, two are answered with guidance, and the seventh is the one that a person corrects.
    expect(ran).toBe(5);
    expect(last(8)).toContain(TEXT);
  });
});

describe('a text with which a person lets another pass start', () => {
  /** Two passes, of which the first is never good enough. */
  const twice = (world: Partial<World>, { reruns, ...policy }: PolicyPatch = {}) =>
    think(
      [{ text: 'a first try' }, { text: 'a second try' }],
      { ...policy, reruns: { max_reruns: 0, ...reruns } },
      // A review takes a moment, in which what people sent arrives.
      { review, ...world },
      { review },
    );
  const review = ({ loop_id }: { loop_id: string }) => ({
    alignment_score: loop_id.endsWith('_r1') ? 1 : 0.1,
    drift_score: 0,
  });
  const recorded = ({ records, archives }: Awaited<ReturnType<typeof twice>>) => {
    const batches = [...records, ...archives.map((archive) => archive.pending)];
    const artifacts = new Map(batches.flatMap((batch) => batch.artifacts).map(({ id, text }) => [id, text]));
    return batches
      .flatMap((batch) => batch.records)
      .filter(({ signal_type }) => signal_type === 'human_correction')
      .map(({ observed_outcome, context_refs }) => {
        const kept: unknown = JSON.parse(artifacts.get(context_refs.artifact_ids?.[0] ?? '') ?? '{}');
        const { by, text } = kept as { by: string; text: string };
        return { error_code: observed_outcome.error_code, by, text };
      });
  };
  const overriding = (body: object): Partial<World> => {
    let isSent = false;
    return {
      react: (_shown, send) => {
        if (!isSent) send(0, 'override', { override_max_reruns: true, override_by: 'ada', ...body });
        isSent = true;
      },
    };
  };

  it('the reason of an override is the first row of guidance in the pass that it frees, and recorded with its author', async () => {
    const lived = await twice(overriding({ override_reason: TEXT }));
    expect(lived.result).toMatchObject({ outcome: 'completed', loops: 2 });
    expect(lived.views[1]?.guidance.rows[0]?.text).toContain(TEXT);
    expect(lived.last(2)).toContain(TEXT);
    expect(recorded(lived)).toEqual([{ error_code: 'OVERRIDDEN', by: 'ada', text: TEXT }]);
  });

  it('arrives in observe mode too, because a person changes the run on purpose', async () => {
    const lived = await twice(overriding({ override_reason: TEXT }), { mode: 'observe' });
    expect(lived.views[1]?.guidance.rows.map(({ text }) => text.includes(TEXT))).toEqual([true]);
  });

  it('an override without a reason leaves a record and no guidance', async () => {
    const lived = await twice(overriding({}));
    expect(lived.result).toMatchObject({ outcome: 'completed', loops: 2 });
    expect(lived.views[1]?.guidance.rows).toEqual([]);
    expect(recorded(lived)).toEqual([{ error_code: 'OVERRIDDEN', by: 'ada', text: '' }]);
  });

  it('an override that was not needed leaves no record', async () => {
    const lived = await twice(overriding({ override_reason: TEXT }), { reruns: { max_reruns: 1 } });
    expect(lived.result).toMatchObject({ outcome: 'completed', loops: 2 });
    expect(recorded(lived)).toEqual([]);
  });

  it.each(['correct', 'retry'])('the answer %s to the guard does the same', async (decision) => {
    const lived = await twice(answering({ decision, text: TEXT }), { reruns: { on_guard: 'ask_human' } });
    expect(lived.result).toMatchObject({ outcome: 'completed', loops: 2 });
    expect(lived.last(2)).toContain(TEXT);
    expect(recorded(lived)).toEqual([{ error_code: 'OVERRIDDEN', by: 'ada', text: TEXT }]);
  });
});
