import { z } from 'zod';
import { describeExpected, describeExpectedItem } from '../policy.ts';
import {
  type ListSetting,
  type PatchOf,
  POLICY_TABLE,
  type Setting,
  type SettingGroup,
  type ValuesOf,
} from '../policy-table.ts';

/** A whole policy: every setting has a value. */
export type Policy = ValuesOf<typeof POLICY_TABLE>;
/** Any part of a policy, as people write it. */
export type PolicyPatch = PatchOf<typeof POLICY_TABLE>;

/**
 * A complete policy, with the sentence of each setting as its description. People write `policyPatchSchema`, any part
 * of it.
 */
export const policySchema = objectOf<Policy>((setting) => settingSchema(setting).describe(setting.sentence));

/** Any part of a policy; unknown keys are refused at both levels. */
export const policyPatchSchema = objectOf<PolicyPatch>(
  (setting) => settingSchema(setting).optional(),
  (group) => group.optional(),
);

function objectOf<Value>(
  field: (setting: Setting) => z.ZodType,
  wrap: (group: z.ZodType) => z.ZodType = (group) => group,
): z.ZodType<Value, Value> {
  const object = (entries: Record<string, Setting | SettingGroup>): z.ZodType => {
    const shape = Object.entries(entries).map(([key, entry]) => [
      key,
      entry.type === 'group' ? wrap(object(entry.settings)) : field(entry),
    ]);
    return z.strictObject(Object.fromEntries(shape), { error: 'expected an object' });
  };
  // The shape is computed, so the compiler cannot check that it follows the table. A property test does.
  return object(POLICY_TABLE) as z.ZodType<Value, Value>;
}

export function settingSchema(setting: Setting): z.ZodType {
  const error = describeExpected(setting);
  switch (setting.type) {
    case 'integer':
      return z.int({ error }).min(setting.min, { error }).max(setting.max, { error });
    case 'number':
      return z.number({ error }).min(setting.min, { error }).max(setting.max, { error });
    case 'integer_or_null':
      return z.int({ error }).min(setting.min, { error }).max(setting.max, { error }).nullable();
    case 'boolean':
      return z.boolean({ error });
    case 'choice':
      return z.enum(setting.choices, { error: ({ input }) => describeExpected(setting, input) });
    case 'list':
      return z.array(itemOf(setting.items), { error }).max(setting.maxItems, { error });
  }
}

function itemOf(items: ListSetting['items']): z.ZodType {
  const error = describeExpectedItem(items);
  const text = items.format === 'url' ? z.url({ error }) : z.string({ error });
  const least = items.minChars > 0 ? text.min(items.minChars, { error }) : text;
  return least.max(items.maxChars, { error });
}
