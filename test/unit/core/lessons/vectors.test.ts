/** Every case of signatures.json and reflections.json through the pure core. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { errorSignature } from '../../../../src/core/lessons/signature.ts';
import { reflectionFromEvaluation } from '../../../../src/core/lessons/from-evaluation.ts';
import type { QualityEvaluation, Reflection } from '../../../../src/core/lessons/from-evaluation.ts';

const readVectors = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../../vectors/${name}`, import.meta.url), 'utf8'));

describe('signatures.json', () => {
  const vectors: { error_type: string; content: string; signature: string }[] = readVectors('signatures.json');
  test.each(vectors)('$error_type, $content', ({ error_type, content, signature }) => {
    expect(errorSignature(error_type, content)).toBe(signature);
  });
});

describe('reflections.json', () => {
  const vectors: { input: QualityEvaluation; expect: Partial<Reflection> | null }[] = readVectors('reflections.json');
  test.each(vectors.map((vector, index) => ({ ...vector, number: index + 1 })))(
    'evaluation $number teaches what it should',
    ({ input, expect: expected }) => {
      const reflection = reflectionFromEvaluation(input);
      const { error_type, content, error_signature, quality_delta } = reflection ?? {};
      expect(reflection && { error_type, content, error_signature, quality_delta }).toEqual(expected);
    },
  );
});
