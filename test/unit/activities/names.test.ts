/** Needs nothing. Names that workflows call and names that a worker answers to are spelled once. */
import { expect, it } from 'vitest';
import { createActivities } from '../../../src/activities/create-activities.ts';
import type { ActivityStore } from '../../../src/activities/store-port.ts';
import { createRegistry } from '../../../src/define/registry.ts';
import { ACTIVITY, toolOfActivity } from '../../../src/protocol/names.ts';

it('ACTIVITY names every activity of the runtime and no other', () => {
  const activities = createActivities({
    registry: createRegistry([]),
    store: { archivedGuards: {}, biasCounts: {} } as unknown as ActivityStore,
    redact: (text) => text,
    maskKnown: (text) => text,
  });
  const names = Object.keys(activities).filter((name) => toolOfActivity(name) === null);
  expect(names.sort()).toEqual(Object.values(ACTIVITY).sort());
});
