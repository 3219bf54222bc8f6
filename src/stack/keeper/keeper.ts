import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, StackError } from '../stack-error.ts';
import { cacheDir } from '../machine/cache-dir.ts';
import { takeFolderLock } from '../machine/folder-lock.ts';
import { stopLeftovers } from '../machine/leftovers.ts';
import { ownIdentity } from '../machine/process-identity.ts';
import { clusterArguments } from '../postgres/cluster.ts';
import { POSTGRES_HURRIED_STOP, POSTGRES_STOP } from '../postgres/server.ts';
import { TEMPORAL_STOP, databaseFile } from '../temporal/dev-server.ts';
import type { KeeperPlan, KeeperResult } from './messages.ts';
import { preparePostgres, prepareTemporal } from './parts.ts';
import type { StackFile } from './stack-file.ts';
import { describeOwner, readStackFile, writeStackFile } from './stack-file.ts';
import { Supervised } from './supervised.ts';

export interface KeeperOptions {
  plan: KeeperPlan;
  env: NodeJS.ProcessEnv;
  progress: (line: string) => void;
  onGivenUp: (error: StackError) => void;
}

/**
 * Owns a data folder: starts the parts on it, restarts them if they fail, and stops them. The lock on the folder is
 * freed when this process ends.
 */
export class Keeper {
  readonly #options: KeeperOptions;
  readonly #parts: { temporal?: Supervised; postgres?: Supervised } = {};
  #file: StackFile;

  constructor(options: KeeperOptions) {
    const { plan } = options;
    const me = ownIdentity();
    this.#options = options;
    this.#file = {
      version: 1,
      state: 'starting',
      pid: me.pid,
      process_start: me.started,
      parent_pid: plan.parentPid,
      started_at: new Date().toISOString(),
      ...(plan.url === undefined ? {} : { url: plan.url }),
      ports: {},
    };
  }

  async start(): Promise<KeeperResult> {
    const { plan } = this.#options;
    this.#takeFolder();
    await this.#stopLeftovers();
    const last = this.#lastPorts();
    await writeStackFile(plan.dataDir, { ...this.#file, ports: last });
    mkdirSync(join(plan.dataDir, 'logs'), { recursive: true, mode: 0o700 });
    const [temporal, postgres] = await Promise.all([this.#startTemporal(last), this.#startPostgres(last)]);
    this.#file = {
      ...this.#file,
      state: 'ready',
      ports: {
        ...last,
        ...(temporal && { temporal: temporal.port }),
        ...(temporal?.uiPort !== undefined && { temporal_ui: temporal.uiPort }),
        ...(postgres && { postgres: postgres.port }),
      },
    };
    await writeStackFile(plan.dataDir, this.#file);
    return { ...(temporal && { temporal }), ...(postgres && { postgres }) };
  }

  /** The ports of the last start. A file that cannot be used only costs other ports, so it is replaced. */
  #lastPorts(): StackFile['ports'] {
    try {
      return readStackFile(this.#options.plan.dataDir)?.ports ?? {};
    } catch (error) {
      this.#options.progress(`${messageOf(error)} It is written again.`);
      return {};
    }
  }

  /** Stops the parts in order or, if the parent has ended, both at once. */
  async stop({ hurried }: { hurried: boolean }): Promise<void> {
    const { temporal, postgres } = this.#parts;
    const stopPostgres = (): Promise<void> | undefined =>
      postgres?.stop(hurried ? POSTGRES_HURRIED_STOP : POSTGRES_STOP);
    if (hurried) {
      await Promise.all([temporal?.stop(TEMPORAL_STOP), stopPostgres()]);
    } else {
      await temporal?.stop(TEMPORAL_STOP);
      await stopPostgres();
    }
    if (this.#file.state === 'ready') {
      await writeStackFile(this.#options.plan.dataDir, { ...this.#file, state: 'stopped' });
    }
  }

  #takeFolder(): void {
    const { dataDir } = this.#options.plan;
    const lock = takeFolderLock(join(dataDir, 'lock'), ownIdentity());
    if (lock.taken) return;
    throw new StackError(
      'folder_in_use',
      `The data folder ${dataDir} is in use by ${describeOwner(dataDir, lock.owner)}.`,
      'Stop that one first, or choose another folder with SECONDWIND_DATA_DIR.',
    );
  }

  async #stopLeftovers(): Promise<void> {
    const { dataDir } = this.#options.plan;
    const found = await Promise.all([databaseFile(dataDir), ...clusterArguments(dataDir)].map(stopLeftovers));
    for (const pid of found.flat())
      this.#options.progress(`Ended process ${pid}, which a killed stack had left running`);
  }

  async #startTemporal(last: StackFile['ports']): Promise<KeeperResult['temporal']> {
    const { plan, env, progress } = this.#options;
    if (!plan.temporal) return undefined;
    const parts = { plan, env, progress, cacheDir: cacheDir(env), last };
    const { launchFirst, launchAgain } = await prepareTemporal({ ...parts, wanted: plan.temporal });
    const { group, ports } = await launchFirst();
    this.#parts.temporal = this.#supervise('Temporal', () => launchAgain(ports));
    this.#parts.temporal.watch(group);
    return { port: ports.grpc, ...(ports.ui === undefined ? {} : { uiPort: ports.ui }) };
  }

  async #startPostgres(last: StackFile['ports']): Promise<KeeperResult['postgres']> {
    const { plan, env, progress } = this.#options;
    if (!plan.postgres) return undefined;
    const parts = { plan, env, progress, cacheDir: cacheDir(env), last };
    const { launchFirst, launchAgain, urlOn } = await preparePostgres({ ...parts, wanted: plan.postgres });
    const { group, ports: port } = await launchFirst();
    this.#parts.postgres = this.#supervise('Postgres', () => launchAgain(port));
    this.#parts.postgres.watch(group);
    return { port, databaseUrl: urlOn(port) };
  }

  #supervise(name: string, launch: ConstructorParameters<typeof Supervised>[0]['launch']): Supervised {
    const { progress, onGivenUp } = this.#options;
    return new Supervised({ name, launch, progress, onGivenUp });
  }
}
