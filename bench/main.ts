/** `npm run bench [-- --quick] [-- --json]`: prints the figures; exits 1 if a bar is missed. */
import { benchEncryption } from './encryption.ts';
import { benchFailures } from './failures.ts';
import { benchGuard } from './guard.ts';
import { benchMemory } from './memory.ts';
import { print, report } from './report.ts';
import { benchSimulator } from './simulator.ts';

const quick = process.argv.includes('--quick');
const json = process.argv.includes('--json');

const figures = {
  ...(await benchSimulator(quick ? 2_000 : 20_000)),
  ...(await benchFailures(quick)),
  ...(await benchGuard(quick)),
  ...(await benchMemory(quick)),
  ...(await benchEncryption(quick)),
};
const result = report(figures, [
  { figure: 'simulated_runs_per_s', atLeast: 5_000 },
  { figure: 'guidance_of_10000_failures_p99_ms', atMost: 2 },
  { figure: 'guard_us_per_call', atMost: 50 },
  { figure: 'guard_us_per_stuck_call', atMost: 50 },
  { figure: 'guard_before_per_s', atLeast: 2_000 },
  { figure: 'guard_after_per_s', atLeast: 2_000 },
  { figure: 'recall_by_fingerprint_p99_ms', atMost: 10 },
  { figure: 'recall_by_signature_p99_ms', atMost: 10 },
  { figure: 'recall_by_similarity_p99_ms', atMost: 50 },
  { figure: 'similar_of_any_type_p99_ms', atMost: 50 },
  { figure: 'runs_per_s_encrypted_to_plain', atLeast: 0.95 },
]);
if (json) console.log(JSON.stringify(result));
else print(result);
process.exitCode = result.ok ? 0 : 1;
