/** `npm run recall [-- --tuning]`: prints how well reworded errors find their lesson among 10,000; exits 1 if a bar is missed. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startStack } from '../../src/stack/start-stack.ts';
import { migrateToLatest } from '../../src/store/migrate.ts';
import { createStore } from '../../src/store/store.ts';
import { TUNING_FORMS } from './known-errors.ts';
import { measureRecall, type Rate, type RecallFigures } from './measure.ts';

const LESSONS = 10_000;
const BARS = { recall: 0.95, unrelated: 0.01, p99Ms: 50 } as const;

const share = ({ asked, found }: Rate): number => (asked === 0 ? 0 : found / asked);
const total = (rates: Record<string, Rate>): Rate =>
  Object.values(rates).reduce((sum, { asked, found }) => ({ asked: sum.asked + asked, found: sum.found + found }), {
    asked: 0,
    found: 0,
  });

const folder = await mkdtemp(join(tmpdir(), 'secondwind-recall-'));
const stack = await startStack({ dataDir: join(folder, 'data') });
try {
  await migrateToLatest(stack.databaseUrl);
  const store = createStore(stack.databaseUrl);
  try {
    const isTuning = process.argv.includes('--tuning');
    const figures = await measureRecall(store, {
      databaseUrl: stack.databaseUrl,
      lessons: LESSONS,
      errorsPerForm: 2,
      ...(isTuning && { forms: TUNING_FORMS }),
    });
    process.exitCode = print(figures) ? 0 : 1;
  } finally {
    await store.close();
  }
} finally {
  await stack.stop();
  await rm(folder, { recursive: true, force: true });
}

function print({ byTool, byText, unrelatedByTool, unrelatedByText, timesMs }: RecallFigures): boolean {
  const at = (part: number): number => timesMs[Math.min(timesMs.length - 1, Math.ceil(timesMs.length * part) - 1)] ?? 0;
  const line = (name: string, asked: number, tool: number, text: number): void =>
    console.log(
      `${name.padEnd(22)}${String(asked).padStart(7)}${tool.toFixed(3).padStart(12)}${text.toFixed(3).padStart(12)}`,
    );
  console.log(`${LESSONS} lessons in Postgres. Recall at 5: the lesson of the error is among the first five.`);
  console.log(`${'reworded'.padEnd(22)}${'errors'.padStart(7)}${'with tool'.padStart(12)}${'text alone'.padStart(12)}`);
  for (const [kind, rate] of Object.entries(byTool)) line(kind, rate.asked, share(rate), share(byText[kind] ?? rate));
  const [all, allByText] = [total(byTool), total(byText)];
  line('all', all.asked, share(all), share(allByText));
  line('unrelated, matched', unrelatedByTool.asked, share(unrelatedByTool), share(unrelatedByText));
  console.log(`one search: p50 ${at(0.5).toFixed(1)} ms, p99 ${at(0.99).toFixed(1)} ms (${timesMs.length} searches)`);
  const missed = [
    ...(Math.min(share(all), share(allByText)) < BARS.recall ? [`recall is below ${BARS.recall}`] : []),
    ...(Math.max(share(unrelatedByTool), share(unrelatedByText)) > BARS.unrelated
      ? [`more than ${BARS.unrelated * 100} % of the unrelated errors matched`]
      : []),
    ...(at(0.99) > BARS.p99Ms ? [`p99 is above ${BARS.p99Ms} ms`] : []),
  ];
  for (const sentence of missed) console.log(`missed: ${sentence}`);
  return missed.length === 0;
}
