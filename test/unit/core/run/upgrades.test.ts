/** States that older versions handed over are upgraded, and their runs are executed to the end. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { upgradeState } from '../../../../src/core/run/upgrades.ts';
import { createRegistry } from '../../../../src/define/registry.ts';
import { STORY_VERSION } from '../../../../src/protocol/run.ts';
import { liveOnInSimulator } from '../../../scenarios/live-in-simulator.ts';
import { scriptedAgents } from '../../../scenarios/scripted-agents.ts';
import { ROOT } from '../../docs/markdown.ts';

const FOLDER = join(ROOT, 'test/replay/states');
const registry = createRegistry(scriptedAgents);
const kept = readdirSync(FOLDER).sort();
const read = (file: string) => JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as { story_version: number };

/** How the run ended in the version that made the state. */
const ENDINGS: Record<string, { steps: number; attempts: number; loops: number }> = {
  'v1-a-plan-after-two-steps.json': { steps: 3, attempts: 3, loops: 1 },
  'v1-a-planner-after-a-failure.json': { steps: 2, attempts: 2, loops: 1 },
  'v1-a-second-pass.json': { steps: 4, attempts: 3, loops: 2 },
  // A payment of its first pass is kept: the second pass must recognize it by the identity that version 3 gives it.
  'v2-a-first-pass-that-paid.json': { steps: 4, attempts: 3, loops: 2 },
};

describe('a state of an older story version', () => {
  it.each(kept)('the kept state %s is upgraded and its run ends as it did in its own version', async (file) => {
    const { result } = await liveOnInSimulator(upgradeState(read(file)), registry);
    const { steps, attempts } = result.used;
    expect(result.outcome).toBe('completed');
    expect({ steps, attempts, loops: result.loops }).toEqual(ENDINGS[file]);
  });

  it('every version before the current one has a kept state that this test upgrades', () => {
    const versions = new Set(kept.map((file) => read(file).story_version));
    const before = Array.from({ length: STORY_VERSION - 1 }, (_, index) => index + 1);
    expect([...versions]).toEqual(expect.arrayContaining(before));
  });

  it('a state that is newer than the worker is refused with a message that says what to do', () => {
    const newer = { ...read(kept[0] ?? ''), story_version: STORY_VERSION + 1 };
    expect(() => upgradeState(newer)).toThrow(
      /story version \d+ and this worker knows up to \d+. Deploy a newer worker/,
    );
  });
});
