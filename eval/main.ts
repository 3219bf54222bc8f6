/** `npm run eval [-- --quick] [-- --json]`: runs the evaluations and prints the figures; exits 1 if a bar is missed. */
import { NOTE, printEval, printSwitch } from './print.ts';
import { runEval } from './run-eval.ts';
import { measureSwitch } from './switch-seeds.ts';

const SEED_NUMBER = 4;

const result = await runEval(process.argv.includes('--quick') ? 140 : 1_000, SEED_NUMBER);
const seeds = process.argv.includes('--quick') ? 2 : 10;
const rollback = await measureSwitch(result.evaluations, seeds);
const isSwitchRight = rollback.stays_on === seeds && !rollback.off_after.includes(null);
if (process.argv.includes('--json')) {
  const { ok, figures, missed, evaluations, seed } = result;
  console.log(JSON.stringify({ ok: ok && isSwitchRight, figures, missed, evaluations, seed, rollback, note: NOTE }));
} else {
  printEval(result);
  printSwitch(rollback, result.evaluations);
}
process.exitCode = result.ok && isSwitchRight ? 0 : 1;
