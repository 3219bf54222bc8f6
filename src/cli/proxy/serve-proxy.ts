import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type GuardSettings, settingsOf } from '../../core/guard/guard-state.ts';
import { mergePolicy } from '../../core/policy/merge-policy.ts';
import { SecondwindError } from '../../protocol/errors.ts';
import { readPolicy, readWhole } from '../read-input.ts';
import type { ProxyNote } from './create-proxy.ts';

const MODES = ['observe', 'guide', 'enforce'] as const;

const badUsage = (what: string, next: string): SecondwindError => new SecondwindError('bad_usage', what, next);

const readUpstream = (given: string): URL => {
  const url = URL.canParse(given) ? new URL(given) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw badUsage(
      `--upstream ${given} is invalid: expected an http or https address.`,
      'For example: https://api.openai.com/v1',
    );
  }
  if (url.username !== '' || url.password !== '' || url.search !== '') {
    throw badUsage(
      '--upstream contains a user name, a password or a query.',
      'The client of the API sends its own key.',
    );
  }
  return url;
};

/** Reads the flags of `secondwind proxy`. Its default is `guide`, because stopping an agent has to be asked for. */
export async function readProxySettings(flags: {
  upstream: string;
  port: string;
  host?: string;
  mode?: string;
  policy?: string;
}): Promise<{ upstream: URL; port: number; host: string; guard: GuardSettings }> {
  const patch = flags.policy === undefined ? undefined : await readPolicy(flags.policy);
  const mode = MODES.find((name) => name === (flags.mode ?? patch?.mode ?? 'guide'));
  if (mode === undefined) throw badUsage(`--mode ${flags.mode} is unknown.`, `Use ${MODES.join(', ')}.`);
  const policy = mergePolicy(patch, { mode });
  return {
    upstream: readUpstream(flags.upstream),
    port: readWhole('--port', flags.port, 0, 65_535),
    host: flags.host ?? '127.0.0.1',
    guard: settingsOf(policy),
  };
}

/** Starts to listen and returns the address for clients. */
export const listen = (server: Server, port: number, host: string): Promise<string> =>
  new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        badUsage(`The proxy cannot listen on ${host}:${port} (${error.code}).`, 'Choose another --port or --host.'),
      ),
    );
    server.listen(port, host, () => {
      const address = server.address() as AddressInfo;
      resolve(`http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`);
    });
  });

/** One line for the log. */
export const describeNote = ({ event, path, rule, conversation, calls, why }: ProxyNote): string => {
  switch (event) {
    case 'guided':
      return `guided conversation ${conversation} after call ${calls} (${rule}), ${path}`;
    case 'stopped':
      return `stopped conversation ${conversation} after call ${calls} (${rule}), ${path}`;
    case 'unreachable':
      return `the upstream ${path} is not reachable: ${why}`;
    case 'unread':
      return `a request to ${path} passed unread: ${why}`;
  }
};
