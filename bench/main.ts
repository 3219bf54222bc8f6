/** `npm run bench [-- --quick] [-- --json]`: measures and prints; exits 1 when a bar is missed. */
import { print, report } from './report.ts';
import { benchSimulator } from './simulator.ts';

const quick = process.argv.includes('--quick');
const json = process.argv.includes('--json');

const figures = await benchSimulator(quick ? 2_000 : 20_000);
const result = report(figures, [{ figure: 'simulated_runs_per_s', atLeast: 5_000 }]);
if (json) console.log(JSON.stringify(result));
else print(result);
process.exitCode = result.ok ? 0 : 1;
