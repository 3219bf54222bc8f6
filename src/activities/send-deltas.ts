import type { Redact } from '../core/redaction/redact.ts';
import { createStreamRedactor, type StreamRedactor } from '../core/redaction/stream-redactor.ts';
import type { PlannerView } from '../core/run/ports.ts';
import { encodedBytes } from '../core/transcript/shorten-to-bytes.ts';
import type { TurnDeltas } from '../model/plan-turn.ts';
import type { ModelDelta, ModelDeltaPart } from '../protocol/model-delta.ts';
import type { DeltaPort } from './store-port.ts';

/** Ten messages a second are fluent for a reader. */
const FLUSH_MS = 100;
/** How often to find out whether anybody watches. */
const ASK_MS = 1_000;
/** How long to leave a store alone that did not take a message. */
const AWAY_MS = 5_000;
/** How long the end of a turn waits for the last message. */
const LAST_MS = 250;
/** A Postgres notification has less than 8000 bytes, and encryption adds a half. */
const TEXT_BYTES = 3_000;
/** More than this is not collected for a reader who may come later. */
const COLLECTED_CHARS = 64 * 1024;

interface Part {
  about: ModelDeltaPart;
  redactor: StreamRedactor;
  /** What has arrived and was not redacted yet. */
  waiting: string;
  isNew: boolean;
  /** Too much was collected while nobody watched, so the rest of this part is not shown. */
  isLost: boolean;
}

interface SendOptions {
  redact: Redact;
  holdChars: number;
  now: () => number;
}

/**
 * Sends what a model produces to whoever watches the run, merged and redacted. It is best effort: a store that does not
 * answer never delays or fails the turn. While nobody watches, it only asks once in a second whether that is still so.
 */
export function sendDeltas(port: DeltaPort, view: PlannerView, options: SendOptions): TurnDeltas {
  const parts = new Map<string, Part>();
  let seq = 0;
  let isWatched = false;
  let askAt = 0;
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<void> | null = null;

  const schedule = (): void => {
    if (isOver || timer !== undefined || sending !== null) return;
    timer = setTimeout(
      () => {
        timer = undefined;
        void flush();
      },
      isWatched || askAt === 0 ? FLUSH_MS : ASK_MS,
    );
    timer.unref();
  };
  const flush = (): Promise<void> => {
    sending ??= send().finally(() => {
      sending = null;
      if ([...parts.values()].some(({ waiting }) => waiting !== '')) schedule();
    });
    return sending;
  };
  const send = async (): Promise<void> => {
    try {
      if (options.now() >= askAt) {
        askAt = options.now() + ASK_MS;
        isWatched = await port.isWatched(view.run_id);
      }
      const deltas = isWatched ? [...parts.values()].flatMap(take) : [];
      if (deltas.length > 0) await port.send(view.run_id, deltas);
    } catch {
      isWatched = false;
      askAt = options.now() + AWAY_MS;
    }
  };
  const take = (part: Part): ModelDelta[] => {
    const { waiting, isNew } = part;
    part.waiting = '';
    part.isNew = false;
    const text = part.redactor.push(waiting) + (isOver ? part.redactor.end() : '');
    const pieces = text === '' && !(isNew && part.about.kind === 'tool_call') ? [] : splitText(text);
    return pieces.map((piece) => ({
      event: 'model_delta',
      at: new Date(options.now()).toISOString(),
      run_id: view.run_id,
      loop_id: view.loop_id,
      turn: view.turn,
      attempt: view.attempt,
      seq: (seq += 1),
      final: false,
      ...part.about,
      text: piece,
    }));
  };
  const partFor = (piece: ModelDeltaPart): Part => {
    const key = piece.kind === 'text' ? 'text' : `call ${piece.call_id}`;
    const known = parts.get(key);
    if (known !== undefined) return known;
    const redactor = createStreamRedactor(options.redact, options.holdChars);
    const part: Part = { about: piece, redactor, waiting: '', isNew: true, isLost: false };
    parts.set(key, part);
    return part;
  };
  return {
    push: (piece) => {
      const part = partFor(piece);
      if (part.isLost) return;
      part.waiting += piece.text;
      if (part.waiting.length > COLLECTED_CHARS) {
        part.waiting = '';
        part.isLost = true;
      }
      schedule();
    },
    end: async (isComplete) => {
      clearTimeout(timer);
      const last = async (): Promise<void> => {
        await sending;
        // What was held back of an incomplete answer may be the beginning of a secret.
        isOver = true;
        if (isWatched && isComplete) await flush();
      };
      let limit: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        limit = setTimeout(resolve, LAST_MS);
      });
      await Promise.race([last(), late]);
      isOver = true;
      clearTimeout(limit);
    },
  };
}

/** Cuts a text into pieces that fit into a notification, without splitting a surrogate pair. */
function splitText(text: string): string[] {
  if (encodedBytes(text) <= TEXT_BYTES) return [text];
  const half = Math.floor(text.length / 2);
  const middle = /[\uDC00-\uDFFF]/.test(text.charAt(half)) ? half + 1 : half;
  return [...splitText(text.slice(0, middle)), ...splitText(text.slice(middle))];
}
