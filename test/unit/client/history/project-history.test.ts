/** The projection on histories that are rare or wrong. What ordinary runs look like is test/stack/history.test.ts. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../../../../src/client/history/run-event.ts';
import { compareEventIds } from '../../../../src/client/history/event-id.ts';
import { projectHistory } from '../../../../src/client/history/project-history.ts';
import * as h from './histories.ts';

const told = (events: RunEvent[], name: RunEvent['event']) => events.filter((event) => event.event === name);

describe('failures', () => {
  it('a record that is sent again after a failed write is one event', () => {
    const { events } = projectHistory(
      h.history(
        h.started(),
        h.scheduled('record', h.batch(h.record(1, 1))),
        h.failed(2),
        h.scheduled('record', h.batch(h.record(1, 1), h.record(2, 1))),
        h.completed(4),
        h.scheduled('archive', h.payload({ pending: { records: [h.record(3, 1)] } })),
      ),
    );
    expect(told(events, 'failure_recorded').map((event) => 'failure_id' in event && event.failure_id)).toEqual([
      'r:s1:a1:f0',
      'r:s2:a1:f0',
      'r:s3:a1:f0',
    ]);
  });

  it('an attempt whose pointer could not be resolved is shown as a step, although it was never called', () => {
    const manifest = { id: 'm1', text: JSON.stringify({ loop_id: 'loop_r_r1' }) };
    const { events, steps } = projectHistory(
      h.history(
        h.started(),
        h.scheduled('record', h.payload({ records: [h.record(1, 1, 'pointer_unresolved')], artifacts: [manifest] })),
      ),
    );
    expect(events.map((event) => event.event)).toEqual([
      'run_started',
      'step_started',
      'attempt_ended',
      'failure_recorded',
    ]);
    expect(steps).toMatchObject([
      {
        loop_id: 'loop_r_r1',
        step_id: 1,
        attempts: [{ attempt: 1, outcome: 'failed', failure_id: 'r:s1:a1:f0', manifest_id: 'm1' }],
      },
    ]);
  });

  it('a pointer that the activity could not resolve is one attempt, not two', () => {
    const outcome = { class: 'failed', category: 'pointer_unresolved', error_code: 'POINTER_UNRESOLVED' };
    const { events, steps } = projectHistory(
      h.history(
        h.started(),
        h.scheduled('tool.look', h.call(1, 1)),
        h.failed(2, h.payload(outcome)),
        h.scheduled('record', h.batch(h.record(1, 1, 'pointer_unresolved'))),
      ),
    );
    expect(told(events, 'attempt_ended')).toMatchObject([{ failure: { error_code: 'POINTER_UNRESOLVED' } }]);
    expect(steps[0]?.attempts).toHaveLength(1);
  });

  it('a step has the input of its latest attempt and the output of each, and no event has them', () => {
    const call = (attempt: number, input: object) =>
      h.payload({ loop_id: 'loop_r', step_id: 1, attempt, phase: 'act', tool: 'look', input });
    const { events, steps } = projectHistory(
      h.history(
        h.started(),
        h.scheduled('tool.look', call(1, { page: 'old' })),
        h.failed(2),
        h.scheduled('tool.look', call(2, { page: 'new' })),
        h.completed(4, h.payload({ output: { text: 'found' }, inline: true, artifact_id: 'a1', bytes: 16 })),
      ),
    );
    expect(steps).toMatchObject([
      {
        input: { page: 'new' },
        attempts: [{}, { output: { value: { text: 'found' }, inline: true, artifact_id: 'a1', bytes: 16 } }],
      },
    ]);
    expect(steps[0]?.attempts[0]?.output).toBeUndefined();
    expect(JSON.stringify(events)).not.toMatch(/old|new|found/);
  });

  it('a failure of the planner does not belong to the step with the same number', () => {
    const ofPlanner = { ...h.record(1, 1), attempted_action: { tool_name: 'planner', tool_call_id: 'r:s1:a1' } };
    const { steps } = projectHistory(
      h.history(h.started(), h.scheduled('tool.look', h.call(1, 1)), h.scheduled('record', h.batch(ofPlanner))),
    );
    expect(steps[0]?.attempts[0]?.failure_id).toBeUndefined();
  });
});

describe('questions', () => {
  const asked = h.memo(h.payload({ question_id: 'q1', text: 'May it?', options: ['approve', 'deny', 'stop'] }));
  const gone = h.memo(h.payload(null));
  const answers = (...events: Record<string, unknown>[]) =>
    told(projectHistory(h.history(h.started(), ...events)).events, 'answered');

  it('a question without an answer has timed out', () => {
    expect(answers(asked, gone)).toMatchObject([{ question_id: 'q1', kind: 'timed_out', by: null }]);
  });

  it('a question that ends with a cancel is shown as cancelled', () => {
    expect(answers(asked, h.signalled('cancel_run', h.payload({ by: 'ada' })), gone)).toMatchObject([
      { kind: 'cancelled' },
    ]);
  });

  it('the first valid answer to a question counts, and a denial is shown as a denial', () => {
    const say = (body: object) => h.updated('answer', h.payload({ question_id: 'q1', ...body }));
    const all = answers(
      asked,
      say({ decision: 'skip', by: 'bob' }),
      say({ decision: 'deny', by: 'ada' }),
      say({ decision: 'approve', by: 'eve' }),
      gone,
    );
    expect(all).toMatchObject([{ kind: 'denied', decision: 'deny', by: 'ada' }]);
  });

  it('a question that is escalated is asked again, and ends once', () => {
    const { events } = projectHistory(h.history(h.started(), asked, asked, gone));
    expect(told(events, 'question_asked')).toMatchObject([{ escalation: 0 }, { escalation: 1 }]);
    expect(told(events, 'answered')).toHaveLength(1);
  });
});

describe('the end', () => {
  const result = (outcome: string) => ({ outcome, reason: 'x', why: 'because', loops: 2 });

  it('the end of a run comes from the archive if the workflow was closed as cancelled', () => {
    const archive = h.payload({ result: result('finalized'), trace: [], pending: {} });
    const { events } = projectHistory(h.history(h.started(), h.scheduled('archive', archive), h.cancelledByTemporal()));
    expect(events.at(-1)).toMatchObject({ event: 'run_ended', outcome: 'finalized', why: 'because', loops: 2 });
  });

  it('the end of a run shows each pass with its review and its decision, and none for a pass without a review', () => {
    const trace = [
      { loop_id: 'a', rerun_reason: 'low_alignment', finalize_reason: null, reflection_fatigue: 0.1 },
      { loop_id: 'a_r1', rerun_reason: null, finalize_reason: 'thresholds_met', force_finalize: false },
      { loop_id: 'a_r2', rerun_reason: null, finalize_reason: null },
    ];
    const { events } = projectHistory(
      h.history(h.started(), h.scheduled('archive', h.payload({ result: result('completed'), trace, pending: {} }))),
    );
    expect(told(events, 'review')).toMatchObject([{ loop_id: 'a', reflection_fatigue: 0.1 }, { loop_id: 'a_r1' }]);
    expect(told(events, 'decision')).toMatchObject([
      { loop_id: 'a', decision: 'rerun', rerun_reason: 'low_alignment' },
      { loop_id: 'a_r1', decision: 'finalize', finalize_reason: 'thresholds_met' },
    ]);
  });
});

describe('damaged histories', () => {
  const ofInputs = [
    'prepared',
    'state',
    'run',
    'records',
    'artifacts',
    'pending',
    'trace',
    'result',
    'guidance',
    'rows',
  ];
  const ofBodies = ['step_id', 'attempt', 'question_id', 'options', 'decision', 'by', 'text', 'outcome', 'category'];
  const bytes = fc.uint8Array({ maxLength: 40 });
  const oddPayload = fc.oneof(
    fc.tuple(bytes, bytes).map(([encoding, data]) => h.rawPayload(encoding, data)),
    bytes.map((data) => h.rawPayload(new TextEncoder().encode('json/plain'), data)),
    fc.json().map((text) => h.payload(JSON.parse(text))),
    // The right fields with wrong values come closest to being believed.
    fc.dictionary(fc.constantFrom(...ofInputs, ...ofBodies), fc.jsonValue()).map(h.payload),
  );
  const types = ['tool.x', 'record', 'archive', 'reconcile', 'callModel', 'prepare', ''];
  const name = fc.constantFrom('answer', 'override', 'feedback', 'cancel_run', 'other');
  const eventNumber = fc.integer({ min: 0, max: 12 });
  const oddEvent = fc.oneof(
    oddPayload.map(h.started),
    fc.tuple(fc.constantFrom(...types), oddPayload).map(([type, input]) => h.scheduled(type, input)),
    fc.tuple(eventNumber, oddPayload).map(([id, result]) => h.completed(id, result)),
    fc.tuple(eventNumber, oddPayload, fc.string()).map(([id, details, type]) => h.failed(id, details, type)),
    oddPayload.map(h.memo),
    fc.tuple(name, oddPayload).map(([signal, body]) => h.signalled(signal, body)),
    fc.tuple(name, oddPayload).map(([update, body]) => h.updated(update, body)),
    fc.tuple(oddPayload, fc.oneof(fc.double(), fc.string())).map(([summary, s]) => h.timer(summary, s)),
    oddPayload.map(h.ended),
    fc.constant({}),
  );

  it('damaged histories never make the projection throw, and its events stay in order and are plain JSON', () => {
    fc.assert(
      fc.property(fc.array(oddEvent, { maxLength: 12 }), (attributes) => {
        const { events, steps } = projectHistory(h.history(...attributes));
        expect(JSON.parse(JSON.stringify({ events, steps }))).toEqual({ events, steps });
        for (const [index, event] of events.slice(1).entries()) {
          expect(compareEventIds(events[index]?.id ?? '', event.id)).toBeLessThan(0);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('an invalid time does not stop the projection', () => {
    const history = h.history(h.started(), h.timer(h.payload('long'), 1e15));
    const far = { ...history[1], eventTime: { seconds: 9e15, nanos: 0 } } as unknown as (typeof history)[number];
    const { events } = projectHistory([...history, far]);
    expect(told(events, 'waiting')).toHaveLength(2);
  });
});

describe('event ids', () => {
  it('event ids are ordered by number and not as text', () => {
    const ids = ['2.1.0', '1.10.0', '1.9.12', '1.9.2', '10.1.0'];
    expect(ids.sort(compareEventIds)).toEqual(['1.9.2', '1.9.12', '1.10.0', '2.1.0', '10.1.0']);
  });

  it('an unknown event id sorts before all others', () => {
    for (const odd of ['', 'x', '1.2', '1.2.3.4', '1.-2.3']) expect(compareEventIds(odd, '1.1.0')).toBeLessThan(0);
  });
});
