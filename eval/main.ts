/** `npm run eval [-- --quick] [-- --json]`: runs the evaluations and prints the figures; exits 1 if a bar is missed. */
import { NOTE, printEval } from './print.ts';
import { runEval } from './run-eval.ts';

const SEED_NUMBER = 4;

const result = await runEval(process.argv.includes('--quick') ? 140 : 1_000, SEED_NUMBER);
if (process.argv.includes('--json')) {
  const { ok, figures, missed, evaluations, seed } = result;
  console.log(JSON.stringify({ ok, figures, missed, evaluations, seed, note: NOTE }));
} else printEval(result);
process.exitCode = result.ok ? 0 : 1;
