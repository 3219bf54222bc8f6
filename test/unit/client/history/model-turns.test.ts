/** Which requests to a model a history names, from histories written by hand. The messages themselves are in the store. */
import { describe, expect, it } from 'vitest';
import { listModelTurns } from '../../../../src/client/history/model-turns.ts';
import * as h from './histories.ts';

const prepared = (model: string | null) => h.started(h.payload({ prepared: { run_id: 'r', model } }));
const turn = (n: number, transcript: string | null, loop_id = 'loop_r') =>
  h.scheduled('callModel', h.payload({ loop_id, turn: n, attempt: 1, transcript }));

describe('the turns of a model', () => {
  it('are counted over all passes, and the attempts of one turn have the same number', () => {
    const { model, turns } = listModelTurns(
      h.history(
        prepared('gpt'),
        turn(1, null),
        h.failed(2, h.payload({ class: 'failed', sent: 'i1' })),
        turn(1, null),
        h.completed(4, h.payload({ transcript: 'i2' })),
        turn(2, 'i2'),
        h.completed(6, h.payload({ transcript: 'i3' })),
        turn(1, null, 'loop_r_r1'),
        h.completed(8, h.payload({ transcript: 'i4' })),
      ),
    );
    expect(model).toBe('gpt');
    expect(turns).toEqual([
      { turn: 1, attempt: 1, at: expect.any(String), before: null, index: 'i1' },
      { turn: 1, attempt: 2, at: expect.any(String), before: null, index: 'i2' },
      { turn: 2, attempt: 1, at: expect.any(String), before: 'i2', index: 'i3' },
      { turn: 3, attempt: 1, at: expect.any(String), before: null, index: 'i4' },
    ]);
  });

  it('leave out what was never sent, and calls that are still open', () => {
    const { turns } = listModelTurns(
      h.history(prepared('gpt'), turn(1, null), h.failed(2, h.payload({ class: 'failed' })), turn(1, null)),
    );
    expect(turns).toEqual([]);
  });

  it('continue in the next execution, whose event ids begin anew', () => {
    const { turns, model } = listModelTurns([
      ...h.history(prepared('gpt'), turn(1, null), h.completed(2, h.payload({ transcript: 'i1' }))),
      ...h.history(
        h.started(h.payload({ state: { run: { run_id: 'r', model: 'gpt' } } })),
        turn(2, 'i1'),
        h.completed(2, h.payload({ transcript: 'i2' })),
      ),
    ]);
    expect(model).toBe('gpt');
    expect(turns.map(({ turn: n, index }) => [n, index])).toEqual([
      [1, 'i1'],
      [2, 'i2'],
    ]);
  });

  it('say whether the agent has a model: yes, no, or not known before a worker has prepared the run', () => {
    const bare = h.started(h.payload({ agent: 'a', goal: 'g' }));
    expect(listModelTurns(h.history(prepared(null))).model).toBeNull();
    expect(listModelTurns(h.history(bare)).model).toBeUndefined();
    const prepare = h.scheduled('prepare', h.payload({}));
    const done = h.completed(2, h.payload({ ok: true, prepared: { model: 'gpt' } }));
    expect(listModelTurns(h.history(bare, prepare, done)).model).toBe('gpt');
  });

  it('are none in a history that nobody can read', () => {
    const odd = h.rawPayload(new Uint8Array([1]), new Uint8Array([2]));
    expect(listModelTurns(h.history(h.started(odd), h.scheduled('callModel', odd), h.completed(2, odd))).turns).toEqual(
      [],
    );
  });
});
