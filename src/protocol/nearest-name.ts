/** Returns `; did you mean …?`, or an empty text if no known name is similar. */
export function suggestName(wrong: string, known: string[]): string {
  const nearest = known
    .map((name) => ({ name, distance: editDistance(wrong.slice(0, 60), name) }))
    .sort((one, other) => one.distance - other.distance)[0];
  if (nearest === undefined || nearest.distance > Math.max(2, Math.floor(nearest.name.length / 3))) return '';
  return `; did you mean ${nearest.name}?`;
}

function editDistance(one: string, other: string): number {
  let previous = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const replace = (previous[column - 1] ?? 0) + (one[row - 1] === other[column - 1] ? 0 : 1);
      current.push(Math.min(replace, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[other.length] ?? 0;
}
