/** How figures are written on this page. */
import { duration } from '../parts/times.tsx';

export const percent = (share: number | null): string => {
  if (share === null) return '–';
  return `${(share * 100).toFixed(share === 0 || share === 1 ? 0 : 1)} %`;
};
export const dollars = (micro: number | null): string => {
  if (micro === null) return '–';
  return micro === 0 ? '$0' : `$${(micro / 1_000_000).toFixed(4)}`;
};
export const seconds = (value: number | null): string => (value === null ? '–' : duration(value * 1_000));
export const decimal = (value: number | null): string => (value === null ? '–' : value.toFixed(value === 0 ? 0 : 2));
export const countOf = (count: number, noun: string): string =>
  `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
