/** Needs Postgres. Shows who gets a run id, a family and an idempotency key, and when a reservation is free again. */
import { beforeAll, describe, expect, it } from 'vitest';
import { FamilyTakenError, IdempotencyConflictError, RunExistsError } from '../../src/protocol/errors.ts';
import { defaultLoopId } from '../../src/protocol/ids.ts';
import { createStore } from '../../src/store/store.ts';
import type { StartNames } from '../../src/store/reservations.ts';
import { openTestStore, timeAt } from './store-fixtures.ts';
import type { StoreUnderTest } from './store-fixtures.ts';

let test: StoreUnderTest;
beforeAll(async () => {
  test = await openTestStore();
});

const known = () => Promise.resolve(true);
const unknown = () => Promise.resolve(false);
const reserve = (names: StartNames, isKnownRun = known) => test.store.reservations.reserve(names, isKnownRun);
const ownerOf = async (family: string) => (await test.store.reservations.ownerOf(family))?.run_id;
const keyOf = (hash: string, request_hash: string, run_id = 'by-key') => ({ hash, request_hash, run_id });

/** As if the start had begun two minutes ago. */
const letAge = (family: string) =>
  test.query(`update reservations set reserved_at = now() - interval '2 minutes' where family = $1`, [family]);

describe('a family', () => {
  it('a family belongs to the first run that reserves it, and the others are told whose it is', async () => {
    await reserve({ run_id: 'one', loop_id: 'fam' });
    expect(await ownerOf('fam')).toBe('one');
    await expect(reserve({ run_id: 'two', loop_id: 'fam' })).rejects.toThrow('The name fam belongs to the run one.');
    await expect(reserve({ run_id: 'two', loop_id: 'fam_r3' })).rejects.toBeInstanceOf(FamilyTakenError);
    await expect(reserve({ run_id: null, loop_id: 'fam' })).rejects.toBeInstanceOf(FamilyTakenError);
  });

  it('a family of a guard is reserved as often as the guard asks, and no run gets it, however old it is', async () => {
    await reserve({ run_id: null, loop_id: 'guarded' });
    await reserve({ run_id: null, loop_id: 'guarded' });
    await letAge('guarded');
    const late = reserve({ run_id: 'late', loop_id: 'guarded' }, unknown);
    await expect(late).rejects.toThrow('The name guarded belongs to a guard.');
  });

  it('a family that twenty runs want at the same time goes to one of them', async () => {
    const ids = Array.from({ length: 20 }, (_, index) => `at-once-${index}`);
    const tried = await Promise.allSettled(ids.map((run_id) => reserve({ run_id, loop_id: 'at-once' })));
    const winners = ids.filter((_, index) => tried[index]?.status === 'fulfilled');
    expect(winners).toEqual([await ownerOf('at-once')]);
  });
});

describe('a run id', () => {
  it('a run id has one family, and whoever starts it under another name is told that the run exists', async () => {
    await reserve({ run_id: 'named', loop_id: 'first-name' });
    await expect(reserve({ run_id: 'named', loop_id: 'second-name' })).rejects.toBeInstanceOf(RunExistsError);
    expect(await ownerOf('second-name')).toBeUndefined();
  });
});

describe('an idempotency key', () => {
  const first = { run_id: 'keyed', loop_id: 'keyed', key: keyOf('k1', 'h1') };

  it('an idempotency key is reserved once for the same request, and refused with another', async () => {
    await reserve(first);
    await reserve(first);
    const others = [
      { ...first, key: keyOf('k1', 'h2') },
      { run_id: 'keyed-2', loop_id: 'keyed-2', key: keyOf('k1', 'h3') },
      // Its family is taken as well; that the key is used comes first.
      { run_id: 'keyed-2', loop_id: 'fam', key: keyOf('k1', 'h4') },
    ];
    for (const other of others) await expect(reserve(other)).rejects.toBeInstanceOf(IdempotencyConflictError);
  });

  it('an idempotency key is not used up by a start whose run id is taken, and a start without a key finds its own reservation', async () => {
    const taken = reserve({ ...first, key: keyOf('k2', 'h1') });
    await expect(taken).rejects.toBeInstanceOf(RunExistsError);
    await reserve({ run_id: 'free', loop_id: 'free', key: keyOf('k2', 'h9') });
    await reserve({ run_id: 'keyed', loop_id: 'keyed' });
  });
});

describe('a start that was abandoned', () => {
  it('a start that was abandoned is free again after a minute when its run never came to be: name, run id and key', async () => {
    const lost = { run_id: 'lost', loop_id: 'lost', key: keyOf('k-lost', 'h-lost') };
    await reserve(lost);
    const next = { run_id: 'next', loop_id: 'lost', key: keyOf('k-lost', 'h-next') };
    await expect(reserve(next, unknown)).rejects.toBeInstanceOf(IdempotencyConflictError);
    await letAge('lost');
    await expect(reserve(next, known)).rejects.toBeInstanceOf(IdempotencyConflictError);
    await reserve(next, unknown);
    expect(await ownerOf('lost')).toBe('next');
    await reserve({ run_id: 'lost', loop_id: 'lost-again' });
  });

  it('a start that was abandoned counts as under way again once it is repeated', async () => {
    await reserve({ run_id: 'repeated', loop_id: 'repeated' });
    await letAge('repeated');
    await reserve({ run_id: 'repeated', loop_id: 'repeated' });
    await expect(reserve({ run_id: 'other', loop_id: 'repeated' }, unknown)).rejects.toBeInstanceOf(FamilyTakenError);
  });

  it('a start is not abandoned when Temporal has forgotten the run but the archive has it', async () => {
    await reserve({ run_id: 'archived', loop_id: 'archived' });
    await test.store.archivedRuns.put({
      run_id: 'archived',
      agent: 'clerk',
      goal: 'g',
      outcome: 'completed',
      summary: {},
      trace: [],
      labels: [],
      started_at: timeAt(0),
      ended_at: timeAt(1),
    });
    await letAge('archived');
    await expect(reserve({ run_id: 'heir', loop_id: 'archived' }, unknown)).rejects.toBeInstanceOf(FamilyTakenError);
  });
});

describe('a release', () => {
  it('a release gives back what the call reserved, all of it or the key alone', async () => {
    const key = keyOf('k3', 'h3');
    const whole = await reserve({ run_id: 'whole', loop_id: 'whole', key });
    await whole.release({ keepName: false });
    const part = await reserve({ run_id: 'part', loop_id: 'whole', key });
    await part.release({ keepName: true });
    expect(await ownerOf('whole')).toBe('part');
    await reserve({ run_id: 'third', loop_id: 'third', key: keyOf('k3', 'h4') });
  });

  it('a release leaves alone what was reserved before', async () => {
    const names = { run_id: 'before', loop_id: 'before' };
    await reserve(names);
    await (await reserve(names)).release({ keepName: false });
    expect(await ownerOf('before')).toBe('before');
  });
});

describe('a store that is away', () => {
  const away = createStore('postgres://nobody:nothing@127.0.0.1:1/nowhere');
  const start = (names: StartNames) => away.reservations.reserve(names, known);

  it('a store that is away does not hold back a run whose names nobody else can have', async () => {
    const names = { run_id: 'alone', loop_id: defaultLoopId('alone') };
    const reservation = await start(names);
    await expect(reservation.release({ keepName: false })).resolves.toBeUndefined();
    await expect(start({ ...names, key: keyOf('k', 'h', 'alone') })).resolves.toBeDefined();
  });

  it.each<[string, StartNames]>([
    ['a name of its own', { run_id: 'r', loop_id: 'chosen' }],
    ['a key beside an id of its own', { run_id: 'r', loop_id: defaultLoopId('r'), key: keyOf('k', 'h') }],
    ['a guard', { run_id: null, loop_id: 'chosen' }],
  ])('a store that is away holds back %s', async (_what, names) => {
    await expect(start(names)).rejects.toMatchObject({ code: 'STORE_UNREACHABLE' });
  });
});
