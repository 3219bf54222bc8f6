import { ACTIVITY } from '../../protocol/names.ts';
import {
  asCount,
  asFields,
  asText,
  decodeFirst,
  type Fields,
  type HistoryEvent,
  numberText,
  textOrNull,
  toTime,
} from './history-event.ts';

/** One request to a model that was sent, as history names it. Its messages are in the store. */
export interface ModelTurn {
  /** Counted from 1 over all passes. The attempts of one turn have the same number. */
  turn: number;
  /** Counted from 1 in its turn. A later one is a retry. */
  attempt: number;
  /** When it was scheduled. */
  at: string;
  /** The conversation before the turn; null at the start of a pass. */
  before: string | null;
  /** The index that the turn left in the store. */
  index: string;
}

export interface ModelTurns {
  /** The agent's model; null if the agent has none, and undefined if the run is not prepared yet. */
  model: string | null | undefined;
  turns: ModelTurn[];
}

/** Lists the requests that a run sent to its model, over all executions of its continue-as-new chain. */
export function listModelTurns(history: readonly HistoryEvent[]): ModelTurns {
  const reader = new TurnReader();
  for (const event of history) reader.read(event);
  return { model: reader.model, turns: reader.turns };
}

class TurnReader {
  model: string | null | undefined;
  readonly turns: ModelTurn[] = [];
  #turn = 0;
  #attempt = 0;
  #place = '';
  /** Calls without an end, by the id of the event that scheduled them. */
  readonly #open = new Map<string, { type: string; input: Fields; at: string }>();

  read(event: HistoryEvent): void {
    const {
      workflowExecutionStartedEventAttributes: started,
      activityTaskScheduledEventAttributes: scheduled,
      activityTaskCompletedEventAttributes: done,
      activityTaskFailedEventAttributes: failed,
    } = event;
    if (started) this.#start(asFields(decodeFirst(started.input)));
    if (scheduled) {
      const type = asText(scheduled.activityType?.name);
      if (type === ACTIVITY.callModel || type === ACTIVITY.prepare)
        this.#open.set(numberText(event.eventId), {
          type,
          input: asFields(decodeFirst(scheduled.input)),
          at: toTime(event.eventTime) ?? '',
        });
    }
    if (done) this.#end(done.scheduledEventId, asFields(decodeFirst(done.result)));
    if (failed) {
      const details = decodeFirst(failed.failure?.applicationFailureInfo?.details);
      this.#end(failed.scheduledEventId, { transcript: asFields(details)['sent'] ?? null });
    }
  }

  #start(input: Fields): void {
    // The ids of history events start at 1 again with each execution.
    this.#open.clear();
    const carried = asFields(asFields(input['state'])['run']);
    this.#prepare(Object.keys(carried).length > 0 ? carried : asFields(input['prepared']));
  }

  #prepare(run: Fields): void {
    if (run['model'] !== undefined) this.model = textOrNull(run['model']);
  }

  #end(scheduledEventId: unknown, result: Fields): void {
    const key = numberText(scheduledEventId);
    const call = this.#open.get(key);
    if (call === undefined) return;
    this.#open.delete(key);
    if (call.type === ACTIVITY.prepare) this.#prepare(asFields(result['prepared']));
    const index = textOrNull(result['transcript']);
    if (call.type !== ACTIVITY.callModel || index === null) return;
    const { input } = call;
    const place = `${asText(input['loop_id'])} ${asCount(input['turn'])}`;
    if (place !== this.#place) {
      this.#turn += 1;
      this.#attempt = 0;
    }
    this.#place = place;
    this.#attempt += 1;
    this.turns.push({
      turn: this.#turn,
      attempt: this.#attempt,
      at: call.at,
      before: textOrNull(input['transcript']),
      index,
    });
  }
}
