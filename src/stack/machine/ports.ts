import { connect, createServer } from 'node:net';
import { StackError, errnoOf } from '../stack-error.ts';

export const LOOPBACK = '127.0.0.1';

/** Finds a port that is free now. Another program may still take it, so the caller has to be ready to try again. */
export async function freePort(): Promise<number> {
  const port = await tryListen(0);
  if (port === undefined) throw new Error('The system has no free port left.');
  return port;
}

async function isPortFree(port: number): Promise<boolean> {
  return (await tryListen(port)) !== undefined;
}

/** Returns the named port or throws; else the port of the last start if it is free; else any free port. */
export async function choosePort(what: string, named: number | undefined, last: number | undefined): Promise<number> {
  if (named !== undefined) {
    if (await isPortFree(named)) return named;
    throw new StackError(
      'port_taken',
      `Port ${named} for ${what} is taken by another program.`,
      `Stop that program, or name another port for ${what}, or none to let a free one be chosen.`,
    );
  }
  if (last !== undefined && (await isPortFree(last))) return last;
  return freePort();
}

/** True if something accepts connections there now. */
export async function answersOnPort(host: string, port: number, timeoutMs: number): Promise<boolean> {
  return (await connectionProblem(host, port, timeoutMs)) === undefined;
}

/** Why no connection is possible there, or undefined if one is. */
export function connectionProblem(host: string, port: number, timeoutMs: number): Promise<Error | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: timeoutMs });
    const settle = (problem?: Error): void => {
      socket.destroy();
      resolve(problem);
    };
    socket.once('connect', () => settle());
    socket.once('timeout', () => settle(new Error(`no connection within ${timeoutMs / 1000} s`)));
    socket.once('error', settle);
  });
}

function tryListen(port: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error) => {
      const taken = ['EADDRINUSE', 'EACCES'].includes(errnoOf(error) ?? '');
      if (taken) resolve(undefined);
      else reject(error);
    });
    server.listen({ port, host: LOOPBACK, exclusive: true }, () => {
      const address = server.address();
      const chosen = typeof address === 'object' && address ? address.port : port;
      server.close(() => resolve(chosen));
    });
  });
}
