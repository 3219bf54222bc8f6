/** The documented families of loops, executed as runs in the simulated world. */
import { describe, expect, it } from 'vitest';
import { buildLoopTrace } from '../../../../src/core/guardrails/loop-trace.ts';
import { createRegistry } from '../../../../src/define/registry.ts';
import { sha256Hex } from '../../../../src/protocol/ids.ts';
import { simulateRun } from '../../../../src/testing/simulator/simulate-run.ts';
import {
  expectedTrace,
  families,
  judgedAgent,
  overrideOf,
  readTrace,
  requestOf,
  reviewOf,
} from '../../../scenarios/families.ts';
import { prepared } from '../../../support/fixtures.ts';
import { resultOfRun } from '../../../../src/core/run/life.ts';

const registry = createRegistry([judgedAgent(async () => undefined)]);

describe.each(families)('the family $family', (family) => {
  it(`the decisions after each pass of ${family.family} equal the vectors`, async () => {
    const { state } = await simulateRun(prepared({ ...requestOf(family), run_id: `sim-${family.family}` }, registry), {
      world: {
        call: () => ({ class: 'ok', output: 1, inline: true, artifact_id: sha256Hex('1'), bytes: 1, duration_ms: 1 }),
        review: (view, send) => {
          const override = overrideOf(view);
          if (override !== null) send(0, 'override', override);
          return reviewOf(view);
        },
      },
    });
    expect(readTrace(buildLoopTrace(state.guard))).toEqual(expectedTrace(family));
    const last = family.loops.at(-1)?.expect.reason;
    expect(resultOfRun(state)).toMatchObject({
      outcome: last === 'thresholds_met' ? 'completed' : 'finalized',
      reason: last,
      loops: family.loops.length,
    });
  });
});
