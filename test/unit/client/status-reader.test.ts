import { describe, expect, it } from 'vitest';
import type { StatusReading } from '../../../src/client/temporal/run-status.ts';
import { createStatusReader } from '../../../src/client/temporal/status-reader.ts';
import type { RunStatus } from '../../../src/protocol/run.ts';

const told = (state: RunStatus['state'], why = '', byRun = true): StatusReading => ({
  status: { run_id: 'r', state, why } as RunStatus,
  byRun,
});

/** Questions that are answered when the test says so. */
function openQuestions() {
  const asked: { runId: string; answer(told: StatusReading): void; fail(error: Error): void }[] = [];
  const ask = (runId: string): Promise<StatusReading> =>
    new Promise((answer, fail) => void asked.push({ runId, answer, fail }));
  return { asked, ask };
}
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a reader of statuses', () => {
  it('the status reader queries an ended run only once', async () => {
    let asked = 0;
    const read = createStatusReader(async () => told('ended', `answer ${(asked += 1)}`));
    await read('r');
    expect((await read('r')).why).toBe('answer 1');
  });

  it('the status reader queries again while the run is open or did not answer itself', async () => {
    const answers = [told('running'), told('ended', 'the archive says so', false), told('ended', 'the run says so')];
    const read = createStatusReader(async () => answers.shift() ?? told('ended', 'asked too often'));
    await read('r');
    await read('r');
    expect((await read('r')).why).toBe('the run says so');
    expect((await read('r')).why).toBe('the run says so');
  });

  it('callers that arrive during a query share the answer of the next one', async () => {
    const { asked, ask } = openQuestions();
    const read = createStatusReader(ask);
    const [first, second, third] = [read('r'), read('r'), read('r')];
    expect(asked).toHaveLength(1);
    asked[0]?.answer(told('running', 'old'));
    expect((await first).why).toBe('old');
    await settled();
    expect(asked).toHaveLength(2);
    asked[1]?.answer(told('running', 'new'));
    expect([(await second).why, (await third).why]).toEqual(['new', 'new']);
    void read('r');
    expect(asked).toHaveLength(3);
  });

  it('the status reader is not blocked by a run that does not answer or by a failure', async () => {
    const { asked, ask } = openQuestions();
    const read = createStatusReader(ask);
    const [first, second] = [read('r'), read('r')];
    const other = read('other');
    asked[1]?.answer(told('running', 'here'));
    expect((await other).why).toBe('here');
    asked[0]?.fail(new Error('away'));
    await expect(first).rejects.toThrow('away');
    await settled();
    asked[2]?.answer(told('running', 'back'));
    expect((await second).why).toBe('back');
  });

  it('the status reader keeps a limited cache and drops the least recently used status', async () => {
    const asked: string[] = [];
    const ask = async (runId: string): Promise<StatusReading> => {
      asked.push(runId);
      return told('ended', 'x'.repeat(100));
    };
    const read = createStatusReader(ask, 300);
    await read('a');
    await read('b');
    await read('a');
    await read('c');
    asked.length = 0;
    for (const runId of ['a', 'c', 'b']) await read(runId);
    expect(asked).toEqual(['b']);
  });
});
