import { suggestName } from './nearest-name.ts';
import { type ListSetting, POLICY_TABLE, type Setting, type SettingGroup } from './policy-table.ts';
import type { Policy } from './schemas/policy.ts';

const entries: Record<string, Setting | SettingGroup> = POLICY_TABLE;

/** The policy of a run that sets nothing. */
export const DEFAULT_POLICY = defaultsOf(entries) as Policy;

function defaultsOf(settings: Record<string, Setting | SettingGroup>): Record<string, unknown> {
  const defaults = Object.entries(settings).map(([key, entry]) => [
    key,
    entry.type === 'group' ? defaultsOf(entry.settings) : entry.default,
  ]);
  return Object.fromEntries(defaults) as Record<string, unknown>;
}

/** The row or group of the table under a key of the policy; undefined for an unknown key. */
export const policyEntry = (key: PropertyKey): Setting | SettingGroup | undefined =>
  Object.hasOwn(entries, key) ? entries[String(key)] : undefined;

/** The keys that are allowed in a policy, or in the group at `path`. */
export function policyKeysAt(path: readonly PropertyKey[]): string[] {
  const [key, ...deeper] = path;
  if (key === undefined) return Object.keys(entries);
  const entry = policyEntry(key);
  return entry?.type === 'group' && deeper.length === 0 ? Object.keys(entry.settings) : [];
}

/** Describes the expected value of a setting, as a problem message. `value` is the invalid value. */
export function describeExpected(setting: Setting, value?: unknown): string {
  switch (setting.type) {
    case 'integer':
      return `expected a whole number from ${setting.min} to ${setting.max}`;
    case 'number':
      return `expected a number from ${setting.min} to ${setting.max}`;
    case 'integer_or_null':
      return `expected a whole number from ${setting.min} to ${setting.max}, or null`;
    case 'boolean':
      return 'expected true or false';
    case 'choice': {
      const nearest = typeof value === 'string' ? suggestName(value, [...setting.choices]) : '';
      return `expected one of ${setting.choices.join(', ')}${nearest}`;
    }
    case 'list':
      return `expected a list of at most ${setting.maxItems} ${setting.items.format === 'url' ? 'URLs' : 'texts'}`;
  }
}

export const describeExpectedItem = ({ format, minChars, maxChars }: ListSetting['items']): string =>
  format === 'url'
    ? `expected a URL of at most ${maxChars} characters`
    : `expected a text of ${minChars} to ${maxChars} characters`;
