import { isRecord } from '../../protocol/json.ts';
import { suggestName } from '../../protocol/nearest-name.ts';
import { describeExpected, describeExpectedItem, policyEntry, policyKeysAt } from '../../protocol/policy.ts';
import { type ListSetting, POLICY_ROWS, type Setting } from '../../protocol/policy-table.ts';
import type { RequestProblem } from '../../protocol/run.ts';
import type { Policy } from '../../protocol/schemas/policy.ts';

/**
 * Returns the problems of a part of a policy, by path. It gives the same answers as `policyPatchSchema` but without
 * zod, because workflows can be started with a policy that no API has checked.
 */
export function checkPolicy(patch: unknown, root = '$.policy'): RequestProblem[] {
  if (patch === undefined) return [];
  if (!isRecord(patch)) return [notAnObject(root)];
  return given(patch).flatMap(([key, value]) => {
    const path = `${root}.${key}`;
    const entry = policyEntry(key);
    if (entry === undefined) return [unknownKey(path, key, policyKeysAt([]))];
    if (entry.type !== 'group') return checkSetting(entry, value, path);
    if (!isRecord(value)) return [notAnObject(path)];
    const { settings } = entry;
    return given(value).flatMap(([name, inner]) => {
      const setting = Object.hasOwn(settings, name) ? settings[name] : undefined;
      return setting === undefined
        ? [unknownKey(`${path}.${name}`, name, policyKeysAt([key]))]
        : checkSetting(setting, inner, `${path}.${name}`);
    });
  });
}

/**
 * Returns whether every setting has a value of its type. Ranges are not checked, because a sub-run may be granted less
 * than a person could ask for, for example a part of a second.
 */
export function isCompletePolicy(policy: unknown): policy is Policy {
  return POLICY_ROWS.every(({ keys, setting }) => {
    const value = keys.reduce<unknown>((inner, key) => (isRecord(inner) ? inner[key] : undefined), policy);
    return hasType(setting, value) || (value === undefined && 'added' in setting);
  });
}

function hasType(setting: Setting, value: unknown): boolean {
  switch (setting.type) {
    case 'integer_or_null':
      return value === null || isAmount(value);
    case 'integer':
    case 'number':
      return isAmount(value);
    case 'boolean':
      return typeof value === 'boolean';
    case 'choice':
      return setting.choices.includes(value as string);
    case 'list':
      return Array.isArray(value) && value.every((item) => typeof item === 'string');
  }
}

const isAmount = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value) && value >= 0;

/** Returns the problems of one setting's value; empty when the table allows it. */
export function checkSetting(setting: Setting, value: unknown, path: string): RequestProblem[] {
  const problem = { path, message: describeExpected(setting, value) };
  switch (setting.type) {
    case 'integer_or_null':
      return value === null || isWithin(setting, value) ? [] : [problem];
    case 'integer':
    case 'number':
      return isWithin(setting, value) ? [] : [problem];
    case 'boolean':
      return typeof value === 'boolean' ? [] : [problem];
    case 'choice':
      return setting.choices.includes(value as string) ? [] : [problem];
    case 'list': {
      if (!Array.isArray(value) || value.length > setting.maxItems) return [problem];
      const message = describeExpectedItem(setting.items);
      return value.flatMap((item: unknown, index) =>
        isAllowedItem(setting.items, item) ? [] : [{ path: `${path}[${index}]`, message }],
      );
    }
  }
}

const isWithin = ({ type, min, max }: Extract<Setting, { min: number }>, value: unknown): boolean =>
  typeof value === 'number' && value >= min && value <= max && (type === 'number' || Number.isInteger(value));

function isAllowedItem({ format, minChars, maxChars }: ListSetting['items'], item: unknown): boolean {
  if (typeof item !== 'string') return false;
  if (format === 'text') return item.length >= minChars && item.length <= maxChars;
  // Like zod, this ignores spaces around a URL, and tabs and line ends in it.
  const url = item.trim();
  return URL.canParse(url) && url.replaceAll(/[\t\n\r]/g, '').length <= maxChars;
}

/** A key whose value is undefined counts as left out. */
const given = (members: Record<string, unknown>): [string, unknown][] =>
  Object.entries(members).filter(([, value]) => value !== undefined);

const notAnObject = (path: string): RequestProblem => ({ path, message: 'expected an object' });

const unknownKey = (path: string, key: string, known: string[]): RequestProblem => ({
  path,
  message: `unknown key${suggestName(key, known)}`,
});
