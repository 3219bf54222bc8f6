import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const AGENTS = fileURLToPath(new URL('./agents', import.meta.url));
const TOKEN = 'load-token-of-a-stack-that-nobody-else-has';

export interface LoadedServer {
  url: string;
  headers: { authorization: string; 'content-type': string };
  temporalAddress: string;
  stop(): Promise<void>;
}

/** Starts a whole stack in its own process tree, as users start it, but without the rate limit per token. */
export async function startServer(): Promise<LoadedServer> {
  const folder = await mkdtemp(join(tmpdir(), 'secondwind-load-'));
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', MAIN, 'dev', AGENTS, '--no-demo', '--port', '0', '--json'],
    {
      env: {
        ...process.env,
        SECONDWIND_DATA_DIR: join(folder, 'data'),
        SECONDWIND_TOKEN: TOKEN,
        SECONDWIND_RATE_LIMIT: '1000000',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-10_000)));
  const exited = once(child, 'close');
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await exited;
    await rm(folder, { recursive: true, force: true });
  };
  const ready = await Promise.race([firstLine(child.stdout), exited.then(() => undefined)]);
  if (ready === undefined) {
    await stop();
    throw new Error(`The server ended before it was ready:\n${said}`);
  }
  const { url, temporal_address } = JSON.parse(ready) as { url: string; temporal_address: string };
  return {
    url,
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    temporalAddress: temporal_address,
    stop,
  };
}

async function firstLine(stream: NodeJS.ReadableStream): Promise<string | undefined> {
  for await (const line of createInterface({ input: stream })) return line;
  return undefined;
}
