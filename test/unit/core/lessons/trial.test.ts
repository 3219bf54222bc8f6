/** Trials of lessons: who sees one, and when its effect is certain. Needs nothing. `npm run trial` has the sample sizes. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isWithheld, shareWithheld } from '../../../../src/core/lessons/assignment.ts';
import { explainLesson } from '../../../../src/core/lessons/explain-lesson.ts';
import { judgeTrial, Trial } from '../../../../src/core/lessons/trial.ts';
import { DEFAULT_POLICY } from '../../../../src/protocol/policy.ts';
import { seededRandom } from '../../../../src/testing/simulator/seeded-random.ts';

const observe = (n: number, rates: { shown: number; withheld: number }, seed = 1, share = 0.5) => {
  const random = seededRandom(seed);
  return Array.from({ length: n }, () => {
    const shown = random() < share;
    return { shown, share_shown: share, first_ok: random() < (shown ? rates.shown : rates.withheld) };
  });
};

describe('who sees a lesson', () => {
  it('depends on nothing but the two ids, and is the share that was asked for', () => {
    const ids = Array.from({ length: 10_000 }, (_, n) => `run-${n}`);
    for (const share of [0.1, 0.5]) {
      const withheld = ids.filter((id) => isWithheld(id, 7, share));
      expect(withheld.length / ids.length).toBeCloseTo(share, 1);
      expect(ids.filter((id) => isWithheld(id, 7, share))).toEqual(withheld);
    }
  });

  it('differs between two lessons of one run', () => {
    const both = Array.from({ length: 4_000 }, (_, n) => [
      isWithheld(`run-${n}`, 1, 0.5),
      isWithheld(`run-${n}`, 2, 0.5),
    ]);
    expect(both.filter(([one, other]) => one === other).length / both.length).toBeCloseTo(0.5, 1);
  });

  it('is every run if the lesson is pinned or the policy withholds nothing', () => {
    expect(shareWithheld(undefined, 0.1)).toBe(0);
    expect(shareWithheld({ status: 'candidate', phase: '0' }, 0)).toBe(0);
    expect(shareWithheld({ status: 'candidate', phase: '0' }, 0.1)).toBe(0.5);
    expect(shareWithheld({ status: 'proven', phase: 'v1' }, 0.1)).toBe(0.1);
  });

  it('is explained in one sentence', () => {
    const explain = (status: 'candidate' | 'proven', withheld: boolean) =>
      explainLesson({ status, pinned: false, withheld }, DEFAULT_POLICY);
    expect(explain('candidate', true)).toBe(
      'It is a candidate. 50 % of the runs do not see it, by a hash of run and lesson, and this run is one of them.',
    );
    expect(explain('proven', false)).toBe(
      'It is proven. 10 % of the runs do not see it, by a hash of run and lesson; this run sees it.',
    );
  });
});

describe('a trial', () => {
  it('finds harm and help, with an interval that excludes 0', () => {
    const harm = judgeTrial(observe(400, { shown: 0.5, withheld: 0.8 }));
    expect(harm).toMatchObject({ verdict: 'harms' });
    expect(harm.high).toBeLessThan(0);
    const help = judgeTrial(observe(800, { shown: 0.85, withheld: 0.7 }));
    expect(help).toMatchObject({ verdict: 'helps' });
    expect(help.low).toBeGreaterThan(0);
  });

  it('also with one run in ten withheld', () => {
    expect(judgeTrial(observe(1_500, { shown: 0.5, withheld: 0.8 }, 3, 0.9)).verdict).toBe('harms');
  });

  it('stays open without data, and when everything succeeds', () => {
    expect(judgeTrial([])).toMatchObject({ effect: null, low: -1, high: 1, verdict: 'open' });
    expect(judgeTrial(observe(500, { shown: 1, withheld: 1 })).verdict).toBe('open');
  });

  it('has an interval that contains the true effect at every look, in 95 of 100 worlds on each side', () => {
    let [tooLow, tooHigh] = [0, 0];
    for (let seed = 1; seed <= 100; seed += 1) {
      const trial = new Trial();
      let [low, high] = [-1, 1];
      for (const [n, observation] of observe(300, { shown: 0.7, withheld: 0.6 }, seed).entries()) {
        trial.add(observation);
        if (n % 30 !== 0) continue;
        const figures = trial.figures();
        low = Math.max(low, figures.low);
        high = Math.min(high, figures.high);
      }
      if (low > 0.1) tooLow += 1;
      if (high < 0.1) tooHigh += 1;
    }
    expect(tooLow).toBeLessThanOrEqual(8);
    expect(tooHigh).toBeLessThanOrEqual(8);
  });

  it('has an interval around its estimate, whatever was observed', () => {
    const observation = fc.record({
      shown: fc.boolean(),
      first_ok: fc.boolean(),
      share_shown: fc.constantFrom(0.5, 0.9),
    });
    fc.assert(
      fc.property(fc.array(observation, { maxLength: 60 }), (observations) => {
        const { low, high, verdict } = judgeTrial(observations);
        expect(low).toBeGreaterThanOrEqual(-1);
        expect(high).toBeLessThanOrEqual(1);
        expect(verdict !== 'open' || low <= high).toBe(true);
      }),
    );
  });
});
