import { type ReactNode, type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';

export interface VirtualListProps {
  count: number;
  rowHeight: number;
  label: string;
  render: (index: number) => ReactNode;
  /** Identifies a row, so that its element is kept when rows before it are added. */
  keyOf: (index: number) => string;
  /** Called when the last rows come near. */
  onNearEnd?: () => void;
}

/** Rows above and below the window, so that a quick scroll does not show an empty part. */
const MORE_ROWS = 12;

/** A list that creates elements only for the visible rows. The page itself scrolls. */
export function VirtualList({ count, rowHeight, label, render, keyOf, onNearEnd }: VirtualListProps) {
  const list = useRef<HTMLDivElement>(null);
  const { first, last } = useVisibleRows(list, count, rowHeight);
  useEffect(() => {
    if (last >= count - 2 * MORE_ROWS) onNearEnd?.();
  }, [last, count, onNearEnd]);
  const rows: ReactNode[] = [];
  for (let index = first; index < last; index += 1) {
    rows.push(
      <div
        key={keyOf(index)}
        role="listitem"
        aria-setsize={count}
        aria-posinset={index + 1}
        className="virtual-row"
        style={{ transform: `translateY(${index * rowHeight}px)`, height: rowHeight }}
      >
        {render(index)}
      </div>,
    );
  }
  return (
    <div ref={list} role="list" aria-label={label} className="virtual-list" style={{ height: count * rowHeight }}>
      {rows}
    </div>
  );
}

function useVisibleRows(list: RefObject<HTMLDivElement | null>, count: number, rowHeight: number) {
  const [range, setRange] = useState({ first: 0, last: Math.min(count, 40) });
  useLayoutEffect(() => {
    const measure = (): void => {
      const top = list.current?.getBoundingClientRect().top ?? 0;
      const first = Math.max(0, Math.floor(-top / rowHeight) - MORE_ROWS);
      const last = Math.min(count, Math.ceil((innerHeight - top) / rowHeight) + MORE_ROWS);
      setRange((before) => (before.first === first && before.last === last ? before : { first, last }));
    };
    measure();
    addEventListener('scroll', measure, { passive: true });
    addEventListener('resize', measure);
    return () => {
      removeEventListener('scroll', measure);
      removeEventListener('resize', measure);
    };
  }, [list, count, rowHeight]);
  return { first: Math.min(range.first, count), last: Math.min(range.last, count) };
}
