/** `<execution of the chain>.<history event>.<n>`: derived only from history, so every reader gets the same ids. */
export const eventId = (execution: number, historyEventId: string, n: number): string =>
  `${execution}.${historyEventId}.${n}`;

const EVENT_ID = /^(\d{1,9})\.(\d{1,15})\.(\d{1,9})$/;

/** Returns a negative number if `one` comes before `other`. */
export function compareEventIds(one: string, other: string): number {
  const [a, b] = [parseEventId(one), parseEventId(other)];
  for (const [position, part] of a.entries()) {
    const difference = part - (b[position] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** An unknown id sorts before all others, so that resuming with it misses nothing. */
function parseEventId(id: string): number[] {
  const found = EVENT_ID.exec(id);
  return found === null ? [0, 0, 0] : found.slice(1).map(Number);
}
