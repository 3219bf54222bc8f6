import type { Command } from 'commander';
import type { Runs } from '../../client/secondwind-client.ts';
import type { StartedRun } from '../../client/views.ts';
import type { RunRequest } from '../../protocol/run.ts';
import { personOf, remoteCommand, withPerson } from '../ask/command.ts';
import type { RemoteFlags } from '../ask/connect.ts';

interface StartFlags extends RemoteFlags {
  detach?: boolean;
  wait?: boolean;
  idempotencyKey?: string;
}
interface RunFlags extends StartFlags {
  input?: string;
  plan?: string;
  policy?: string;
  runId?: string;
  loopId?: string;
  parent?: string;
  label?: string[];
}

const starting = (command: Command): Command =>
  command
    .option('--detach', 'do not follow the run')
    .option('--wait', 'stay while the run waits for a person')
    .option('--idempotency-key <key>', 'the same key with the same request gives the same run');

export function addRun(program: Command): void {
  starting(remoteCommand(program, 'run <agent> <goal>', 'start a run and follow it to its end'))
    .option('--input <json>', 'input for the agent: JSON, or @file')
    .option('--plan <file>', 'a JSON file with the plan')
    .option('--policy <file>', 'a JSON file with any part of a policy')
    .option('--run-id <id>', 'an id of your own')
    .option('--loop-id <id>', 'the name of the first pass')
    .option('--parent <run_id>', 'the run that this one belongs to')
    .option('--label <label...>', 'words to find the run by')
    .action(async (agent: string, goal: string, flags: RunFlags) => {
      const request = await requestOf(agent, goal, flags);
      await startAndTell('secondwind run', flags, (runs) => runs.start(request, keyOf(flags)));
    });
}

export function addRerun(program: Command): void {
  withPerson(starting(remoteCommand(program, 'rerun <run_id>', 'start a new run of the same and follow it')))
    .option('--reason <text>', 'why')
    .action(async (runId: string, flags: StartFlags & { by?: string; reason?: string }) => {
      const { reason } = flags;
      const body = { by: personOf(flags), ...(reason !== undefined && { reason }) };
      await startAndTell('secondwind rerun', flags, (runs) => runs.rerun(runId, body, keyOf(flags)));
    });
}

async function requestOf(agent: string, goal: string, flags: RunFlags): Promise<RunRequest> {
  const { readJson, readPlan, readPolicy } = await import('../read-input.ts');
  const { input, plan, policy, runId, loopId, parent, label } = flags;
  return {
    agent,
    goal,
    ...(input !== undefined && { input: await readJson(input) }),
    ...(plan !== undefined && { plan: await readPlan(plan) }),
    ...(policy !== undefined && { policy: await readPolicy(policy) }),
    ...(runId !== undefined && { run_id: runId }),
    ...(loopId !== undefined && { loop_id: loopId }),
    ...(parent !== undefined && { parent_run_id: parent }),
    ...(label !== undefined && { labels: label }),
  };
}

const keyOf = ({ idempotencyKey }: StartFlags): { idempotencyKey?: string } =>
  idempotencyKey === undefined ? {} : { idempotencyKey };

/** With telemetry, the start is the first span of the run's trace. */
async function startAndTell(
  name: string,
  flags: StartFlags,
  start: (runs: Runs) => Promise<StartedRun>,
): Promise<void> {
  const [{ connectRemote }, { commandTelemetry }] = await Promise.all([
    import('../ask/connect.ts'),
    import('../ask/telemetry.ts'),
  ]);
  const telemetry = await commandTelemetry();
  try {
    const { runs } = await connectRemote(flags, process.env, () => telemetry?.headers() ?? {});
    const started = await (telemetry === undefined ? start(runs) : telemetry.inSpan(name, () => start(runs)));
    await tell(runs, started, flags);
  } finally {
    await telemetry?.shutdown();
  }
}

async function tell(runs: Runs, started: StartedRun, flags: StartFlags): Promise<void> {
  const [{ boundSentence }, { followRun }, { print }] = await Promise.all([
    import('../../core/bound/sentence.ts'),
    import('../follow/follow-run.ts'),
    import('../show/print.ts'),
  ]);
  print(flags, started, () => [`${started.run_id} has started. ${boundSentence(started.bound)}`]);
  if (flags.detach !== true) process.exitCode = await followRun(runs, started.run_id, flags);
}
