import { defined } from '../../protocol/json.ts';
import type { Command } from 'commander';
import type { HttpClient } from '../../client/http/http-client.ts';
import type { Runs } from '../../client/secondwind-client.ts';
import type { StartedRun } from '../../client/views.ts';
import type { RunRequest } from '../../protocol/run.ts';
import { readPerson, remoteCommand, withPerson } from '../ask/command.ts';
import type { RemoteFlags } from '../ask/connect-remote.ts';

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
  tenant?: string;
}

const starting = (command: Command): Command =>
  command
    .option('--detach', 'do not follow the run')
    .option('--wait', 'keep following while the run waits for a person')
    .option('--idempotency-key <key>', 'repeating a request with the same key returns the same run');

export function addRun(program: Command): void {
  starting(remoteCommand(program, 'run <agent> <goal>', 'start a run and follow it until it ends'))
    .option('--input <json>', 'the input of the agent: JSON, or @file')
    .option('--plan <file>', 'a JSON file with the plan')
    .option('--policy <file>', 'a JSON file with any part of a policy')
    .option('--run-id <id>', 'the id of the run (default: a new one)')
    .option('--loop-id <id>', 'the id of the first pass (default: made from the run id)')
    .option('--parent <run_id>', 'the run whose budget this run uses')
    .option('--label <label...>', 'labels to find the run by')
    .option('--tenant <name>', 'whose run it is; it sees only lessons of the same tenant')
    .action(async (agent: string, goal: string, flags: RunFlags) => {
      const request = await buildRequest(agent, goal, flags);
      await startAndFollow('secondwind run', flags, (runs) => runs.start(request, idempotencyOptions(flags)));
    });
}

export function addRerun(program: Command): void {
  withPerson(starting(remoteCommand(program, 'rerun <run_id>', 'start a new run with the same request and follow it')))
    .option('--reason <text>', 'the reason to record')
    .action(async (runId: string, flags: StartFlags & { by?: string; reason?: string }) => {
      const { reason } = flags;
      const body = { by: readPerson(flags), ...defined({ reason }) };
      await startAndFollow('secondwind rerun', flags, (runs) => runs.rerun(runId, body, idempotencyOptions(flags)));
    });
}

async function buildRequest(agent: string, goal: string, flags: RunFlags): Promise<RunRequest> {
  const { readJson, readPlan, readPolicy } = await import('../read-input.ts');
  const { input, plan, policy, runId, loopId, parent, label, tenant } = flags;
  return {
    agent,
    goal,
    ...(input !== undefined && { input: await readJson(input) }),
    ...(plan !== undefined && { plan: await readPlan(plan) }),
    ...(policy !== undefined && { policy: await readPolicy(policy) }),
    ...defined({ run_id: runId, loop_id: loopId, parent_run_id: parent, labels: label, tenant }),
  };
}

const idempotencyOptions = ({ idempotencyKey }: StartFlags): { idempotencyKey?: string } =>
  idempotencyKey === undefined ? {} : { idempotencyKey };

/** With telemetry, the command is the first span of the run's trace. */
async function startAndFollow(
  name: string,
  flags: StartFlags,
  start: (runs: Runs) => Promise<StartedRun>,
): Promise<void> {
  const [{ connectRemote }, { commandTelemetry }] = await Promise.all([
    import('../ask/connect-remote.ts'),
    import('../ask/command-telemetry.ts'),
  ]);
  const telemetry = await commandTelemetry();
  try {
    const remote = await connectRemote(flags, process.env, () => telemetry?.headers() ?? {});
    const started = await (telemetry === undefined
      ? start(remote.runs)
      : telemetry.inSpan(name, () => start(remote.runs)));
    await tell(remote, started, flags);
  } finally {
    await telemetry?.shutdown();
  }
}

async function tell(remote: HttpClient, started: StartedRun, flags: StartFlags): Promise<void> {
  const [{ boundSentence }, { followRun }, { print }] = await Promise.all([
    import('../../core/bound/sentence.ts'),
    import('../follow/follow-run.ts'),
    import('../show/print.ts'),
  ]);
  print(flags, started, () => [`${started.run_id} has started. ${boundSentence(started.bound)}`]);
  if (flags.detach !== true) process.exitCode = await followRun(remote, started.run_id, flags);
}
