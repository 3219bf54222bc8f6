import type { Command } from 'commander';
import { reportError } from '../report-error.ts';
import type { Parts } from '../serve/parts.ts';
import type { Failure } from '../serve/run-parts.ts';

interface ProxyFlags {
  upstream: string;
  port?: string;
  host?: string;
  mode?: string;
  policy?: string;
  json?: boolean;
}

const DEFAULT_PORT = '4681';

export function addProxy(program: Command): void {
  program
    .command('proxy')
    .description('guard an agent between it and the API of its model: OpenAI-compatible, streaming or not')
    .requiredOption('--upstream <url>', 'the API of the model, for example https://api.openai.com/v1')
    .option('--port <port>', `the port to listen on, 0 for any free port (default: ${DEFAULT_PORT})`)
    .option('--host <address>', 'the address to listen on (default: 127.0.0.1)')
    .option('--mode <mode>', 'observe, guide or enforce (default: guide)')
    .option('--policy <file>', 'the policy of the guard')
    .option('--json', 'print one JSON line when it is ready, and one per request that is changed or answered')
    .action(async (flags: ProxyFlags) => {
      const { runParts } = await import('../serve/run-parts.ts');
      process.exitCode = await runParts({
        say: (line) => void process.stderr.write(`${line}\n`),
        report: (error) => reportError(error, flags),
        start: (parts) => start(parts, flags),
      });
    });
}

async function start(parts: Parts, flags: ProxyFlags): Promise<{ failed: Promise<Failure> }> {
  const [{ createProxy }, { describeNote, listen, readProxySettings }] = await Promise.all([
    import('../proxy/create-proxy.ts'),
    import('../proxy/serve-proxy.ts'),
  ]);
  const settings = await readProxySettings({ ...flags, port: flags.port ?? DEFAULT_PORT });
  const proxy = createProxy({
    ...settings,
    say: (note) =>
      flags.json
        ? process.stdout.write(`${JSON.stringify(note)}\n`)
        : process.stderr.write(`${new Date().toISOString()} ${describeNote(note)}\n`),
  });
  const url = await listen(proxy.server, settings.port, settings.host);
  parts.add('proxy', () => Promise.resolve(proxy.close()));
  const { mode } = settings.guard;
  process.stdout.write(`${flags.json ? JSON.stringify({ event: 'ready', url, mode }) : `ready ${url}`}\n`);
  if (!flags.json) {
    process.stderr.write(
      `Sends requests to ${settings.upstream.origin}, mode ${mode}. Report: ${url}/secondwind/report\n`,
    );
  }
  return { failed: new Promise((resolve) => proxy.server.once('error', (error) => resolve({ error }))) };
}
