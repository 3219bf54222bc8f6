/**
 * The detector against real output and real sentences. Needs nothing but the corpus. The sentences were written by the
 * people who wrote the patterns, so their figures flatter; the tool output was printed by the tools themselves.
 */
import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { FEEDBACK_TYPES } from '../../../../src/core/feedback/types.ts';
import { detectFeedback } from '../../../../src/core/feedback/detect.ts';
import { corpus, type Sample } from './corpus.ts';

/** Each sample is read once: there are thousands, and the machine may be busy. */
const right = new Map<Sample, boolean>();
beforeAll(() => {
  for (const sample of corpus) right.set(sample, detectFeedback(sample.text).feedback_type === sample.label);
}, 60_000);
const share = (samples: Sample[]): number =>
  samples.filter((sample) => right.get(sample) === true).length / samples.length;
const figure = (samples: Sample[]): string => `${(share(samples) * 100).toFixed(1)} % of ${samples.length}`;
const of = (label: Sample['label'], heldOut: boolean): Sample[] =>
  corpus.filter((sample) => sample.label === label && sample.held_out === heldOut);

describe('the corpus', () => {
  it('the corpus has at least 60 samples per type and 200 clean ones', () => {
    for (const type of FEEDBACK_TYPES) expect(corpus.filter(({ label }) => label === type).length).toBeGreaterThan(59);
    expect(corpus.filter(({ label }) => label === null).length).toBeGreaterThan(199);
  });

  it('the corpus holds out a third, chosen by the hash of the text alone', () => {
    for (const { text, held_out, tuning } of corpus) {
      const hash = BigInt(`0x${createHash('sha256').update(text).digest('hex')}`);
      expect({ text, held_out }).toEqual({ text, held_out: !tuning && hash % 3n === 0n });
    }
  });

  it('the corpus holds out at least 20 samples per type and 300 clean ones, and has no text twice', () => {
    for (const type of FEEDBACK_TYPES) expect(of(type, true).length).toBeGreaterThanOrEqual(20);
    expect(of(null, true).length).toBeGreaterThanOrEqual(300);
    expect(new Set(corpus.map(({ text }) => text)).size).toBe(corpus.length);
  });

  it('the corpus contains no path of the machine it was collected on', () => {
    for (const { text } of corpus)
      expect(text).not.toMatch(/\/root\b|\/work\/|\/tmp\/fb|\/\/\S{0,80}registry|registry\.npm/);
  });
});

describe('detection on the corpus', () => {
  it.each(FEEDBACK_TYPES)('the detector is right for 95 of 100 samples of %s, held out or not', (type) => {
    console.log(`${type}: tuning ${figure(of(type, false))}, held out ${figure(of(type, true))}`);
    expect(share(of(type, false))).toBeGreaterThanOrEqual(0.95);
    expect(share(of(type, true))).toBeGreaterThanOrEqual(0.95);
  });

  it('the detector raises at most one false alarm in 100 clean samples, held out or not', () => {
    for (const source of ['tool', 'person'] as const) {
      const [tuning, held] = [false, true].map((out) => of(null, out).filter((sample) => sample.source === source));
      console.log(`clean, ${source}: tuning ${figure(tuning ?? [])}, held out ${figure(held ?? [])}`);
    }
    expect(share(of(null, false))).toBeGreaterThanOrEqual(0.99);
    console.log(`clean: held out ${figure(of(null, true))}`);
    expect(share(of(null, true))).toBeGreaterThanOrEqual(0.99);
  });
});
