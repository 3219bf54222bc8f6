import { ANSWER_CAP } from './request.ts';

export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge';
  readonly code = 'ANSWER_TOO_LARGE';

  constructor() {
    super(`the answer is larger than ${ANSWER_CAP.bodyBytes} bytes`);
  }
}

/** A fetch with a cap on the size of the answer, so that an endless answer cannot fill the memory. */
export const boundedFetch: typeof fetch = async (input, init) => boundAnswer(await fetch(input, init));

/** The same answer with a cap on its size. */
export function boundAnswer(response: Response): Response {
  if (response.body === null) return response;
  let bytes = 0;
  const counted = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.byteLength;
        if (bytes > ANSWER_CAP.bodyBytes) controller.error(new AnswerTooLarge());
        else controller.enqueue(chunk);
      },
    }),
  );
  return new Response(counted, { status: response.status, statusText: response.statusText, headers: response.headers });
}
