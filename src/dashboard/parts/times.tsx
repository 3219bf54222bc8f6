import { useEffect, useState } from 'react';

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/** A duration in at most two units: `1.2 s`, `4 min 10 s`, `3 d`. */
export function duration(ms: number): string {
  const whole = Math.max(0, ms);
  if (whole < 1_000) return `${Math.round(whole)} ms`;
  if (whole < 10_000) return `${(whole / 1_000).toFixed(1)} s`;
  const rounded = Math.round(whole / 1_000) * 1_000;
  const first = UNITS.findIndex(([, size]) => rounded >= size);
  const [unit, size] = UNITS[first] ?? ['s', 1_000];
  const next = UNITS[first + 1];
  const rest = next === undefined ? 0 : Math.floor((rounded % size) / next[1]);
  return `${Math.floor(rounded / size)} ${unit}${rest > 0 && next !== undefined ? ` ${rest} ${next[0]}` : ''}`;
}

export const clockTime = (iso: string): string => new Date(iso).toLocaleTimeString();

/** The current time, which moves on every second while something is counted. */
export function useNow(isCounting: boolean, everyMs = 1_000): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!isCounting) return undefined;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [isCounting, everyMs]);
  return now;
}

/** How long ago something was, with the exact time as its title. */
export const Ago = ({ iso, now }: { iso: string; now: number }) => (
  <time dateTime={iso} title={new Date(iso).toLocaleString()}>
    {agoText(now - Date.parse(iso))}
  </time>
);

const agoText = (ms: number): string => {
  if (ms < 5_000) return 'now';
  const [unit, size] = UNITS.find(([, length]) => ms >= length) ?? ['s', 1_000];
  return `${Math.floor(ms / size)} ${unit} ago`;
};
