export type Figures = Record<string, number>;

/** A figure with a bar. Figures without a bar are only printed. */
export interface Bar {
  figure: string;
  atLeast?: number;
  atMost?: number;
}

export interface Report {
  ok: boolean;
  figures: Figures;
  missed: string[];
}

export function report(figures: Figures, bars: Bar[]): Report {
  const missed = bars.flatMap(({ figure, atLeast, atMost }) => {
    const value = figures[figure];
    if (value === undefined) return [`${figure} was not measured`];
    if (atLeast !== undefined && value < atLeast) return [`${figure} is ${round(value)}, at least ${atLeast} is asked`];
    if (atMost !== undefined && value > atMost) return [`${figure} is ${round(value)}, at most ${atMost} is asked`];
    return [];
  });
  return { ok: missed.length === 0, figures, missed };
}

const round = (value: number): number => Number(value.toPrecision(4));

export function print({ figures, missed }: Report): void {
  const width = Math.max(...Object.keys(figures).map((name) => name.length));
  for (const [name, value] of Object.entries(figures)) console.log(`${name.padEnd(width)}  ${round(value)}`);
  for (const sentence of missed) console.log(`missed: ${sentence}`);
}
