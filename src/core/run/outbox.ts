import { LIMIT } from '../../protocol/limits.ts';
import type { FailureRevision, RecordBatch, TextArtifact } from '../../protocol/records.ts';
import type { FailureRecord } from '../../protocol/schemas/failure-record.ts';
import type { CallSucceeded } from '../../protocol/tools.ts';
import type { RunPorts } from './ports.ts';
import type { RunState } from './state.ts';

/**
 * What is to be stored waits in the run's state and is written beside the back-off, so a dead store never stops a
 * retry. Every part has a derived id: writing twice is writing once.
 */
export interface OutboxWriter {
  /** Starts writing what waits, and the outputs too when they need room, without being waited for. */
  kick(withOutputs?: boolean): void;
  /** Waits for the write under way, so that nobody is left writing when the run ends or hands over. */
  settle(): Promise<void>;
  /** Makes room by writing the outputs too. True when they are safe in the store. */
  saveOutputs(): Promise<boolean>;
}

export function openOutbox(state: RunState, ports: RunPorts): OutboxWriter {
  let underWay: Promise<boolean> | null = null;
  let bug: { error: unknown } | null = null;

  const write = async (withOutputs: boolean): Promise<boolean> => {
    const batch = waitingBatch(state, withOutputs);
    const outcome = await ports.record(batch);
    if (!outcome.saved) {
      ports.log({ event: 'record_not_saved', reason: outcome.reason, records: batch.records.length });
      return false;
    }
    forget(state, batch, latestArtifact(state));
    return true;
  };
  const settle = async (): Promise<void> => {
    const running = underWay;
    if (running !== null) {
      await running;
      return settle();
    }
    if (bug !== null) throw bug.error;
  };
  const start = (withOutputs: boolean): Promise<boolean> => {
    const running = write(withOutputs).finally(() => {
      underWay = null;
    });
    underWay = running;
    return running;
  };

  return {
    kick(withOutputs = false) {
      if (underWay !== null || (isEmpty(state) && !withOutputs)) return;
      // Nobody waits for this write, so a bug in it is kept and thrown by settle(), which every ending awaits.
      start(withOutputs).catch((error: unknown) => {
        bug = { error };
      });
    },
    settle,
    async saveOutputs() {
      await settle();
      return start(true);
    },
  };
}

export function enqueueFailure(state: RunState, record: FailureRecord, manifest: TextArtifact): void {
  const { outbox } = state;
  outbox.records.push(record);
  outbox.artifacts.push(manifest);
  while (outbox.records.length > LIMIT.outboxRecords) {
    outbox.records.shift();
    outbox.artifacts.shift();
    outbox.lost += 1;
  }
}

export function enqueueRevisions(state: RunState, revisions: FailureRevision[]): void {
  state.outbox.revisions.push(...revisions);
  state.outbox.revisions.splice(0, Math.max(0, state.outbox.revisions.length - 4 * LIMIT.outboxRecords));
}

export function holdOutput(state: RunState, { artifact_id: id, output, bytes }: CallSucceeded): void {
  const { outbox } = state;
  if (outbox.outputs[id] !== undefined) return;
  outbox.outputs[id] = { output, bytes };
  outbox.outputs_bytes += bytes;
}

export function dropOutputs(state: RunState): void {
  const { outbox } = state;
  outbox.lost += Object.keys(outbox.outputs).length;
  outbox.outputs = {};
  outbox.outputs_bytes = 0;
}

export const outputsNeedRoom = (state: RunState): boolean => state.outbox.outputs_bytes > LIMIT.heldOutputBytes;

const isEmpty = (state: RunState): boolean =>
  state.outbox.records.length === 0 &&
  state.outbox.revisions.length === 0 &&
  state.outbox.artifacts.length === 0 &&
  state.outbox.lessons.length === 0 &&
  state.outbox.feedback.length === 0 &&
  // These need not hurry, but they must not grow past their cap either.
  state.outbox.lesson_uses.length < LIMIT.outboxUses / 2 &&
  state.outbox.evaluations.length < LIMIT.outboxUses / 2;

export function waitingBatch(state: RunState, withOutputs: boolean): RecordBatch {
  const { outbox, run } = state;
  const outputs = withOutputs ? Object.entries(outbox.outputs).map(([id, { output }]) => ({ id, output })) : [];
  return {
    run_id: run.run_id,
    agent: run.agent,
    records: [...outbox.records],
    revisions: [...outbox.revisions],
    artifacts: [...outbox.artifacts],
    outputs,
    lessons: [...outbox.lessons],
    lesson_uses: [...outbox.lesson_uses],
    evaluations: [...outbox.evaluations],
    feedback: [...outbox.feedback],
  };
}

/** The latest output stays at hand: it may be the run's result. */
const latestArtifact = (state: RunState): string | null =>
  state.loop.results.findLast((result) => result.status === 'ok')?.artifact_id ?? null;

/** Takes out what has been written; what came in meanwhile stays. */
function forget(state: RunState, batch: RecordBatch, keep: string | null): void {
  const { outbox } = state;
  const records = new Set(batch.records.map((record) => record.failure_id));
  const revisions = new Set(batch.revisions.map((revision) => revision.revision_id));
  const artifacts = new Set(batch.artifacts.map((artifact) => artifact.id));
  outbox.records = outbox.records.filter((record) => !records.has(record.failure_id));
  outbox.revisions = outbox.revisions.filter((revision) => !revisions.has(revision.revision_id));
  outbox.artifacts = outbox.artifacts.filter((artifact) => !artifacts.has(artifact.id));
  const written = <T>(all: T[], done: T[]): T[] => all.filter((one) => !done.includes(one));
  outbox.lessons = written(outbox.lessons, batch.lessons);
  outbox.lesson_uses = written(outbox.lesson_uses, batch.lesson_uses);
  outbox.evaluations = written(outbox.evaluations, batch.evaluations);
  outbox.feedback = written(outbox.feedback, batch.feedback);
  for (const { id } of batch.outputs) {
    if (id === keep) continue;
    outbox.outputs_bytes -= outbox.outputs[id]?.bytes ?? 0;
    delete outbox.outputs[id];
  }
}
