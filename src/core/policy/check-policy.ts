import { isRecord } from '../../protocol/json.ts';
import { suggestion } from '../../protocol/nearest-name.ts';
import { DEFAULT_POLICY } from '../../protocol/policy.ts';
import type { RequestProblem } from '../../protocol/run.ts';
import { MODES, type Range, RANGES, WORDS } from './policy-ranges.ts';

/**
 * What is wrong with a part of a policy, by path, without zod: for workflows of somebody's own, whose policy no door has
 * seen. Names, numbers and words as in the schema; of lists only that they are lists of texts.
 */
export function problemsOfPolicy(patch: unknown, root = '$.policy'): RequestProblem[] {
  if (patch === undefined) return [];
  if (!isRecord(patch)) return [{ path: root, message: 'expected an object' }];
  return given(patch).flatMap(([part, value]) => {
    const path = `${root}.${part}`;
    if (part === 'mode') return problem(path, notOneOf(value, MODES));
    const defaults = memberOf(DEFAULT_POLICY, part);
    if (!isRecord(defaults)) return unknownKey(path, part, DEFAULT_POLICY);
    if (!isRecord(value)) return problem(path, 'expected an object');
    return given(value).flatMap(([key, inner]) =>
      Object.hasOwn(defaults, key)
        ? problem(`${path}.${key}`, misfit(part, key, inner))
        : unknownKey(`${path}.${key}`, key, defaults),
    );
  });
}

function misfit(part: string, key: string, value: unknown): string | null {
  const normal = memberOf(memberOf(DEFAULT_POLICY, part), key);
  if (value === null && normal === null) return null;
  const words = memberOf(memberOf(WORDS, part), key);
  if (Array.isArray(words)) return notOneOf(value, words as string[]);
  const range = memberOf(memberOf(RANGES, part), key) as Range | undefined;
  if (range !== undefined) return outside(value, range);
  if (typeof normal === 'boolean') return typeof value === 'boolean' ? null : 'expected true or false';
  return Array.isArray(value) && value.every((item) => typeof item === 'string') ? null : 'expected a list of texts';
}

const outside = (value: unknown, { min, max, whole }: Range): string | null =>
  typeof value === 'number' && value >= min && value <= max && (!whole || Number.isInteger(value))
    ? null
    : `expected a ${whole ? 'whole ' : ''}number from ${min} to ${max}`;

const notOneOf = (value: unknown, words: readonly string[]): string | null =>
  words.includes(value as string)
    ? null
    : `expected one of ${words.join(', ')}${typeof value === 'string' ? suggestion(value, [...words]) : ''}`;

/** A key that is there without a value is as good as not there. */
const given = (members: Record<string, unknown>): [string, unknown][] =>
  Object.entries(members).filter(([, value]) => value !== undefined);

const memberOf = (holder: unknown, key: string): unknown =>
  isRecord(holder) && Object.hasOwn(holder, key) ? holder[key] : undefined;

const problem = (path: string, message: string | null): RequestProblem[] =>
  message === null ? [] : [{ path, message }];

const unknownKey = (path: string, key: string, known: object): RequestProblem[] =>
  problem(path, `unknown key${suggestion(key, Object.keys(known))}`);
