/**
 * `npm run load [-- --quick] [-- --json]`: fifty connections to a stack of its own on the same machine. Prints the
 * figures; exits 1 if a request failed or a bar is missed.
 */
import { cpus, loadavg } from 'node:os';
import { type Figures, print, report } from '../report.ts';
import { loadLoops } from './loops.ts';
import { loadNeighbours } from './neighbours.ts';
import { startServer } from './server.ts';
import { loadStatus } from './status.ts';

const quick = process.argv.includes('--quick');
const json = process.argv.includes('--json');
const seconds = quick ? 5 : 30;

const machine = { cores: cpus().length, load_before: loadavg()[0] ?? 0 };
const server = await startServer();
try {
  const figures: Figures = {
    ...machine,
    ...(await loadNeighbours(server, seconds)),
    ...(await loadStatus(server, seconds)),
    ...(await loadLoops(server, seconds)),
  };
  const nothing = [
    ...['status_of_ended', 'status_of_open', 'loop_complete'].flatMap((name) => [`${name}_errors`, `${name}_non_2xx`]),
    'neighbours_lost_heartbeats',
    'neighbours_not_completed',
    'neighbours_errors',
    'loops_never_answered',
    'loop_families_that_differ',
  ];
  const result = report(figures, [
    ...nothing.map((figure) => ({ figure, atMost: 0 })),
    { figure: 'loops_decided_in_temporal', atLeast: figures['loops_accepted'] ?? 1 },
    { figure: 'neighbours_status_p99_ms', atMost: 500 },
    { figure: 'status_of_ended_per_s', atLeast: 300 },
    { figure: 'status_of_open_per_s', atLeast: 100 },
    { figure: 'loop_complete_per_s', atLeast: 20 },
  ]);
  if (json) console.log(JSON.stringify(result));
  else print(result);
  process.exitCode = result.ok ? 0 : 1;
} finally {
  await server.stop();
}
