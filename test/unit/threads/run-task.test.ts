/** Needs nothing. The thread is a real one; how long the event loop was held up is measured against the same work in place. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { describe, expect, it } from 'vitest';
import { detectFeedback } from '../../../src/core/feedback/detect.ts';
import { hashOfJson } from '../../../src/protocol/ids.ts';
import { runTask } from '../../../src/threads/run-task.ts';
import { TASKS } from '../../../src/threads/thread-tasks.ts';

const listOf = (items: number) =>
  Array.from({ length: items }, (_, index) => ({ name: `item ${index}`, tags: ['b', 'a'], at: index / 3, id: index }));

describe('a task on a text', () => {
  it.each([10, 20_000])('digests a list of %i items as canonical JSON and its sha256', async (items) => {
    const list = listOf(items);
    const { artifact_id, bytes } = await runTask('digestJson', JSON.stringify(list));
    expect(artifact_id).toBe(hashOfJson(list));
    expect(JSON.parse(new TextDecoder().decode(bytes))).toEqual(list);
  });

  it('detects in a long text what it detects in place', async () => {
    const text = `${'all is well\n'.repeat(20_000)}\nFAIL  test/sum.test.ts\nAssertionError: expected 3 to equal 4\n1 failed`;
    expect(await runTask('detectFeedback', text)).toEqual(detectFeedback(text));
  });

  it('fails with the reason if the text is not JSON, and the next task still works', async () => {
    await expect(runTask('digestJson', '['.repeat(200_000))).rejects.toThrow(/JSON|call stack/);
    const list = listOf(20_000);
    expect((await runTask('digestJson', JSON.stringify(list))).artifact_id).toBe(hashOfJson(list));
  });

  it('holds up the event loop for a fraction of the time that the same work takes in place', async () => {
    const text = JSON.stringify(listOf(60_000));
    await runTask('digestJson', text);
    const inPlace = performance.now();
    TASKS.digestJson(text);
    const inPlaceMs = performance.now() - inPlace;
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    await runTask('digestJson', text);
    delay.disable();
    expect(delay.max / 1e6).toBeLessThan(inPlaceMs / 2);
  });
});
