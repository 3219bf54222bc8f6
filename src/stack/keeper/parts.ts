import { join } from 'node:path';
import type { ProcessGroup } from '../machine/process-group.ts';
import { preparePostgresBinaries } from '../postgres/binaries.ts';
import { SHARED_HOME, chooseClusterFolder, clusterPassword, prepareCluster } from '../postgres/cluster.ts';
import { chooseRunAs, chooseRunAsForTemporal } from '../machine/run-as.ts';
import { databaseUrl, startPostgres } from '../postgres/server.ts';
import type { DevServerPorts } from '../temporal/dev-server.ts';
import { startDevServer } from '../temporal/dev-server.ts';
import { findTemporalCli } from '../temporal/find-cli.ts';
import { launchOnFreePorts, portChooser } from './launch.ts';
import type { KeeperPlan } from './messages.ts';
import type { StackFile } from './stack-file.ts';

interface PartOptions<Wanted> {
  plan: KeeperPlan;
  wanted: Wanted;
  env: NodeJS.ProcessEnv;
  cacheDir: string;
  last: StackFile['ports'];
  progress: (line: string) => void;
}

/** A part that is ready to start: the first time on ports to be chosen, later on the same ports. */
interface LaunchablePart<Ports> {
  launchFirst: () => Promise<{ group: ProcessGroup; ports: Ports }>;
  launchAgain: (ports: Ports) => Promise<ProcessGroup>;
}

export async function prepareTemporal(
  options: PartOptions<NonNullable<KeeperPlan['temporal']>>,
): Promise<LaunchablePart<DevServerPorts>> {
  const { plan, wanted, env, cacheDir, last, progress } = options;
  const cli = await findTemporalCli({ env, cacheDir, progress });
  const grpc = portChooser('Temporal', plan.ports.temporal, last.temporal);
  const ui = portChooser("Temporal's UI", plan.ports.temporalUi, last.temporal_ui);
  const runAs = await chooseRunAsForTemporal();
  const server = { cli, runAs, dataDir: plan.dataDir, env, ...wanted };
  const launchAgain = (ports: DevServerPorts): Promise<ProcessGroup> => startDevServer(server, ports);
  const choose = async (attempt: number): Promise<DevServerPorts> => ({
    grpc: await grpc(attempt),
    ...(wanted.ui && { ui: await ui(attempt) }),
  });
  return { launchAgain, launchFirst: () => launchOnFreePorts(choose, launchAgain) };
}

export async function preparePostgres(
  options: PartOptions<NonNullable<KeeperPlan['postgres']>>,
): Promise<LaunchablePart<number> & { urlOn: (port: number) => string }> {
  const { plan, wanted, env, last, progress } = options;
  const { dataDir } = plan;
  const runAs = await chooseRunAs(wanted.rootMode);
  // The unprivileged user cannot read root's home, where the cache folder is.
  const cacheDir = runAs.kind === 'user' ? join(SHARED_HOME, 'cache') : options.cacheDir;
  const binaries = await preparePostgresBinaries(cacheDir);
  const folder = chooseClusterFolder(dataDir, runAs);
  const password = await clusterPassword(dataDir);
  const durable = wanted.settings['fsync'] !== 'off';
  await prepareCluster({ folder, password, binaries, runAs, env, durable, progress });
  const server = { program: binaries.postgres, folder, dataDir, password, runAs, settings: wanted.settings, env };
  const launchAgain = (port: number): Promise<ProcessGroup> => startPostgres(server, port);
  return {
    launchAgain,
    launchFirst: () => launchOnFreePorts(portChooser('Postgres', plan.ports.postgres, last.postgres), launchAgain),
    urlOn: (port) => databaseUrl(password, port),
  };
}
