import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { StackError } from '../stack-error.ts';
import { stopLeftovers } from '../machine/leftovers.ts';
import { settlesWithin } from '../machine/process-group.ts';
import { clusterArguments } from '../postgres/cluster.ts';
import { databaseFile } from '../temporal/dev-server.ts';
import type { StackExit } from '../types.ts';
import type { FromKeeper, KeeperPlan, KeeperResult, ToKeeper } from './messages.ts';
import { encode } from './messages.ts';

/** Longer than the keeper needs at most: Temporal 3 s, Postgres 11 s. */
const STOP_LIMIT_MS = 20_000;

export interface RunningKeeper {
  result: KeeperResult;
  exited: Promise<StackExit>;
  stop(): Promise<void>;
}

/** Starts a keeper for this process and waits until its parts answer. */
export async function startKeeper(
  plan: KeeperPlan,
  env: NodeJS.ProcessEnv,
  progress: (line: string) => void,
): Promise<RunningKeeper> {
  const child = spawnKeeper(plan.dataDir, env);
  const link = new KeeperLink(child, plan.dataDir);
  const result = await new Promise<KeeperResult>((resolve, reject) => {
    link.onMessage((message) => {
      if (message.kind === 'progress') progress(message.line);
      if (message.kind === 'ready') resolve(message);
    });
    void link.exited.then((exit) => reject(exit.reason === 'failed' ? exit.error : link.lost()));
    link.send({ kind: 'start', plan });
  });
  return { result, exited: link.exited, stop: () => link.stop() };
}

function spawnKeeper(dataDir: string, env: NodeJS.ProcessEnv): ChildProcess {
  const main = new URL(import.meta.url.endsWith('.ts') ? '../keeper-main.ts' : '../keeper-main.js', import.meta.url);
  return spawn(process.execPath, [...loaderFor(main), fileURLToPath(main)], {
    env,
    // Tools that list who uses this folder also find the keeper.
    cwd: dataDir,
    // In a session of its own, so that a Ctrl-C or a closed terminal reaches only the parent, which then stops
    // everything in order.
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
}

/** When run from source, the keeper needs the same loader as its parent; compiled, it needs none. */
function loaderFor(main: URL): string[] {
  if (!main.pathname.endsWith('.ts')) return [];
  return ['--import', pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href];
}

class KeeperLink {
  readonly #child: ChildProcess;
  readonly #dataDir: string;
  readonly exited: Promise<StackExit>;
  #handler: (message: FromKeeper) => void = () => {};
  #failure: StackError | undefined;
  #stopping: Promise<void> | undefined;

  constructor(child: ChildProcess, dataDir: string) {
    this.#child = child;
    this.#dataDir = dataDir;
    const [input, output] = [child.stdin, child.stdout];
    if (!input || !output) throw new Error('The keeper was started without its pipes.');
    // EPIPE: the keeper has ended, and its exit tells why.
    input.on('error', () => {});
    createInterface({ input: output }).on('line', (line) => {
      const message: FromKeeper = JSON.parse(line);
      if (message.kind === 'failed') this.#failure = StackError.fromJSON(message.error);
      this.#handler(message);
    });
    this.exited = new Promise((resolve) => {
      child.once('error', (error) => {
        this.#failure = StackError.from(error, 'Start the stack again.');
        resolve({ reason: 'failed', error: this.#failure });
      });
      // `close` comes after the last line was read; `exit` may come before.
      child.once('close', () => void this.#afterExit().then(resolve));
    });
  }

  onMessage(handler: (message: FromKeeper) => void): void {
    this.#handler = handler;
  }

  send(message: ToKeeper): void {
    this.#child.stdin?.write(encode(message));
  }

  /** Stops the keeper. A second call makes it stop faster. */
  stop(): Promise<void> {
    this.send({ kind: 'stop' });
    this.#stopping ??= this.#waitForEnd();
    return this.#stopping;
  }

  lost(): StackError {
    return new StackError(
      'keeper_failed',
      'The keeper process of the stack has ended unexpectedly.',
      'Start the stack again.',
    );
  }

  async #waitForEnd(): Promise<void> {
    if (!(await settlesWithin(this.exited, STOP_LIMIT_MS))) this.#child.kill('SIGKILL');
    await this.exited;
  }

  async #afterExit(): Promise<StackExit> {
    const { exitCode } = this.#child;
    if (this.#failure) return { reason: 'failed', error: this.#failure };
    if (exitCode === 0) return { reason: 'stopped' };
    // The keeper was killed and could not stop its parts, so they are stopped here.
    await Promise.all([databaseFile(this.#dataDir), ...clusterArguments(this.#dataDir)].map(stopLeftovers));
    return this.#stopping ? { reason: 'stopped' } : { reason: 'failed', error: this.lost() };
  }
}
