const DAYS = 14;
const DAY_MS = 86_400_000;

/** Occurrences of the last 14 days as bars. The label says the same in words. */
export function SparkLine({ days, now }: { days: { day: string; occurrence_count: number }[]; now: number }) {
  const counts = Array.from({ length: DAYS }, (_, index) => {
    const day = new Date(now - (DAYS - 1 - index) * DAY_MS).toISOString().slice(0, 10);
    return days.find((known) => known.day === day)?.occurrence_count ?? 0;
  });
  const most = Math.max(1, ...counts);
  const sum = counts.reduce((total, count) => total + count, 0);
  return (
    <svg
      className="spark"
      viewBox="0 0 112 28"
      role="img"
      aria-label={`${sum} in the last ${DAYS} days, ${most} on the worst day`}
    >
      {counts.map((count, index) => {
        const height = count === 0 ? 1 : Math.max(3, (count / most) * 26);
        // oxlint-disable-next-line react/no-array-index-key -- one bar per day
        return (
          <rect
            key={index}
            className={count === 0 ? 'none' : ''}
            x={index * 8}
            y={28 - height}
            width={6}
            height={height}
            rx={1}
          />
        );
      })}
    </svg>
  );
}
