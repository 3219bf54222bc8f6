/**
 * Something that a test run has only once, however many projects use it. Vitest loads a global setup again for each
 * project with tests, so it is kept outside of the setup.
 */
interface Sharing<T> {
  users: number;
  started: Promise<T>;
}

const meetingPoint = globalThis as { secondwindTests?: Map<string, Sharing<unknown>> };

export interface Shared<T> {
  value: T;
  /** The last user to release it ends it. */
  letGo(): Promise<void>;
}

export async function shared<T>(name: string, start: () => Promise<T>, end: (value: T) => Promise<void>) {
  const all = (meetingPoint.secondwindTests ??= new Map());
  const sharing = (all.get(name) ?? { users: 0, started: start() }) as Sharing<T>;
  all.set(name, sharing);
  sharing.users += 1;
  const value = await sharing.started;
  const letGo = async (): Promise<void> => {
    sharing.users -= 1;
    if (sharing.users > 0) return;
    all.delete(name);
    await end(value);
  };
  return { value, letGo } satisfies Shared<T>;
}
