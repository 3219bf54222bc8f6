import { Problem } from '../problem.ts';

/** How many streams may be open: each is a connection, and follows runs for as long as it is there. */
export interface StreamCaps {
  perToken: number;
  total: number;
}

/** More than the windows of a few people need; a program that opens streams and forgets them meets it. */
const DEFAULT_CAPS: StreamCaps = { perToken: 100, total: 250 };

export interface StreamLimit {
  /**
   * Counts one more stream of a token, until the returned function is called.
   * @throws Problem when there are too many.
   */
  take(holder: string): () => void;
}

export function createStreamLimit({ perToken, total }: StreamCaps = DEFAULT_CAPS): StreamLimit {
  const open = new Map<string, number>();
  let all = 0;
  return {
    take: (holder) => {
      const own = open.get(holder) ?? 0;
      if (own >= perToken) throw tooMany(`A token may have ${perToken} streams open. Close one first.`);
      if (all >= total) throw tooMany(`This server has ${total} streams open. Try again when others have ended.`);
      open.set(holder, own + 1);
      all += 1;
      return () => {
        const left = (open.get(holder) ?? 1) - 1;
        if (left === 0) open.delete(holder);
        else open.set(holder, left);
        all -= 1;
      };
    },
  };
}

const tooMany = (detail: string): Problem => new Problem('too_many', detail, { headers: { 'retry-after': '10' } });
