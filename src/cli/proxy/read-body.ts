import type { IncomingMessage } from 'node:http';
import type { RequestBody } from './forward.ts';

/**
 * Reads a body up to a cap. If it is larger, what was read so far and the rest are returned, so that the body can be
 * sent on without being held in memory.
 */
export const readBody = (request: IncomingMessage, capBytes: number): Promise<RequestBody> =>
  new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let bytes = 0;
    const onData = (part: Buffer): void => {
      parts.push(part);
      bytes += part.length;
      if (bytes <= capBytes) return;
      request.pause();
      request.off('data', onData);
      request.off('end', onEnd);
      resolve({ read: Buffer.concat(parts), rest: request });
    };
    const onEnd = (): void => resolve({ read: Buffer.concat(parts), rest: null });
    request.on('data', onData);
    request.on('end', onEnd);
    request.on('error', reject);
  });
