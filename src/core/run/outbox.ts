import { CAP } from '../../protocol/caps.ts';
import { defined } from '../../protocol/json.ts';
import type { FailureRevision, RecordBatch, TextArtifact } from '../../protocol/records.ts';
import type { Unsaved } from '../../protocol/run.ts';
import type { FailureRecord } from '../../protocol/schemas/failure-record.ts';
import type { CallFailed, CallSucceeded } from '../../protocol/tools.ts';
import { artifactOf, type Attempt, lastRecorded, type Step } from './attempts.ts';
import { manifestText } from './failure-records.ts';
import type { InHistory, RunState } from './state.ts';

/** Queues the record of an attempt. The record itself stays with the attempt until it is written. */
export function queueRecord(state: RunState, record: FailureRecord): void {
  state.outbox.unsaved.push(record.failure_id);
}

/** Queues a record that has no attempt to stay with. */
export function queueNotice(state: RunState, record: FailureRecord, artifacts: TextArtifact[]): void {
  state.outbox.records.push(record);
  state.outbox.artifacts.push(...artifacts);
  queueRecord(state, record);
}

/** Copies the unsaved records of steps that leave the state into the outbox. */
export function keepUnsavedRecords(state: RunState, steps: readonly Step[]): void {
  const { outbox } = state;
  if (outbox.unsaved.length === 0) return;
  for (const step of steps) {
    for (const attempt of step.attempts) {
      const { record } = attempt;
      if (record === undefined || !outbox.unsaved.includes(record.failure_id)) continue;
      outbox.records.push(record);
      outbox.artifacts.push(rebuildManifest(state, step, attempt, record));
    }
  }
}

export function queueRevisions({ outbox }: RunState, revisions: FailureRevision[]): void {
  outbox.revisions.push(...revisions);
  keepLatest(outbox.revisions, 4 * CAP.outboxRecords);
}

/** Keeps an output in the state until the store has it, so that later steps and the result can use it without I/O. */
export function holdOutput(
  { outbox }: RunState,
  { artifact_id: id, output, bytes }: Pick<CallSucceeded, 'artifact_id' | 'output' | 'bytes'>,
): void {
  if (outbox.outputs[id] !== undefined) return;
  outbox.outputs[id] = { output, bytes };
  outbox.outputs_bytes += bytes;
}

/** Stops holding the outputs of a write that failed: its input is in the history, so they can be read from there. */
export function leaveOutputsInHistory({ outbox }: RunState): void {
  addToHistory(outbox, { ...NOTHING, outputs: Object.keys(outbox.outputs).length });
  outbox.outputs = {};
  outbox.outputs_bytes = 0;
}

/** An output that came in the result of its activity, because the store was away, is in the history. */
export const noteCarriedOutput = ({ outbox }: RunState): void => addToHistory(outbox, { ...NOTHING, outputs: 1 });

function addToHistory(outbox: RunState['outbox'], more: InHistory): void {
  const { writes, records, outputs } = outbox.in_history ?? NOTHING;
  const sum = { writes: writes + more.writes, records: records + more.records, outputs: outputs + more.outputs };
  if (sum.writes > 0 || sum.outputs > 0) outbox.in_history = sum;
  else delete outbox.in_history;
}
const NOTHING: InHistory = { writes: 0, records: 0, outputs: 0 };

/**
 * What the run has and the store has not, for its status and its result. Small outputs of a run that goes on are not
 * counted: they are due with the archive.
 */
export function unsavedOf({ outbox, life }: RunState): Unsaved {
  const { records, outputs } = outbox.in_history ?? NOTHING;
  const isEnding = life.is === 'closing' || life.is === 'ended';
  return {
    records: outbox.unsaved.length + records,
    outputs: outputs + (isEnding ? Object.keys(outbox.outputs).length : 0),
    archive: isEnding,
    ...(outbox.lost > 0 && { lost: outbox.lost }),
  };
}

export const outputsExceedCap = ({ outbox }: RunState): boolean => outbox.outputs_bytes > CAP.heldOutputBytes;

export function keepLatest(list: unknown[], most: number): void {
  if (list.length > most) list.splice(0, list.length - most);
}

/** True when nothing in the outbox needs a write now. */
export const nothingToWrite = ({ outbox }: RunState): boolean =>
  outbox.unsaved.length === 0 &&
  outbox.in_history === undefined &&
  outbox.revisions.length === 0 &&
  outbox.artifacts.length === 0 &&
  outbox.lessons.length === 0 &&
  outbox.feedback.length === 0 &&
  // Uses and evaluations can wait, but they must not grow past their cap.
  outbox.lesson_uses.length < CAP.outboxUses / 2 &&
  outbox.evaluations.length < CAP.outboxUses / 2;

/** Everything that waits, as one write. Of the failure records it takes the oldest, so that it stays below Temporal's limit. */
export function collectWaiting(state: RunState, withOutputs: boolean): RecordBatch {
  const { outbox, run } = state;
  const outputs = withOutputs ? Object.entries(outbox.outputs).map(([id, { output }]) => ({ id, output })) : [];
  const { records, artifacts } = unsavedRecords(state);
  const batch: RecordBatch = {
    run_id: run.run_id,
    agent: run.agent,
    records,
    artifacts,
    revisions: [...outbox.revisions],
    outputs,
    lessons: [...outbox.lessons],
    lesson_uses: [...outbox.lesson_uses],
    evaluations: [...outbox.evaluations],
    feedback: [...outbox.feedback],
  };
  if (run.tenant !== undefined) batch.tenant = run.tenant;
  if (outbox.decisions !== undefined) batch.decisions = [...outbox.decisions];
  if (outbox.in_history !== undefined) batch.from_history = true;
  return batch;
}

/** The records to write, in the order in which they were made, with the manifests that they point to. */
function unsavedRecords(state: RunState): Pick<RecordBatch, 'records' | 'artifacts'> {
  const { outbox, loop } = state;
  const artifacts = [...outbox.artifacts];
  if (outbox.unsaved.length === 0) return { records: [], artifacts };
  const due = outbox.unsaved.slice(0, CAP.outboxRecords);
  const records: (FailureRecord | undefined)[] = due.map((id) =>
    outbox.records.find(({ failure_id }) => failure_id === id),
  );
  const find = (step: Step): void => {
    for (const attempt of step.attempts) {
      const { record } = attempt;
      const index = record === undefined ? -1 : due.indexOf(record.failure_id);
      if (record === undefined || index === -1 || records[index] !== undefined) continue;
      records[index] = record;
      artifacts.push(rebuildManifest(state, step, attempt, record));
    }
  };
  for (const step of loop.batch) find(step);
  // Unsaved records are recent, so they are near the end.
  for (let index = loop.steps.length - 1; index >= 0 && records.includes(undefined); index -= 1) {
    const step = loop.steps[index];
    if (step !== undefined) find(step);
  }
  return { records: records.filter((record) => record !== undefined), artifacts };
}

/** Computes the manifest again instead of keeping it, because everything in it is with the attempt. */
const rebuildManifest = (state: RunState, step: Step, attempt: Attempt, record: FailureRecord): TextArtifact => ({
  id: record.context_refs.manifest_id ?? '',
  text: manifestText(state, step, attempt),
});

/**
 * Removes what has been written. What was queued meanwhile stays, and so does the latest output: it may be the result.
 * `fromHistory` is what the history held when the write began.
 */
export function dropWritten(state: RunState, batch: RecordBatch, fromHistory?: InHistory): void {
  const { outbox, loop } = state;
  removeBatch(state, batch);
  if (fromHistory !== undefined) {
    const { writes, records, outputs } = fromHistory;
    addToHistory(outbox, { writes: -writes, records: -records, outputs: -outputs });
  }
  if (batch.outputs.length === 0) return;
  const latest = loop.steps.findLast((step) => artifactOf(step) !== null);
  for (const { id } of batch.outputs) {
    if (latest !== undefined && id === artifactOf(latest)) continue;
    outbox.outputs_bytes -= outbox.outputs[id]?.bytes ?? 0;
    delete outbox.outputs[id];
  }
}

/**
 * The store did not take a write. Its input is in the history, so the state does not keep the records: a later write
 * reads them from there. Outputs stay, because later steps may need them.
 */
export function leaveInHistory(state: RunState, batch: RecordBatch): void {
  const { outbox } = state;
  const before = outbox.unsaved.length;
  removeBatch(state, batch);
  addToHistory(outbox, { writes: 1, records: before - outbox.unsaved.length, outputs: 0 });
}

function removeBatch(state: RunState, batch: RecordBatch): void {
  const { outbox, loop } = state;
  const written = (id: string): boolean => batch.records.some(({ failure_id }) => failure_id === id);
  outbox.unsaved = outbox.unsaved.filter((id) => !written(id));
  outbox.records = outbox.records.filter(({ failure_id }) => !written(failure_id));
  outbox.revisions = withoutIds(outbox.revisions, batch.revisions, ({ revision_id }) => revision_id);
  outbox.artifacts = withoutIds(outbox.artifacts, batch.artifacts, ({ id }) => id);
  outbox.lessons = without(outbox.lessons, batch.lessons);
  outbox.lesson_uses = without(outbox.lesson_uses, batch.lesson_uses);
  outbox.evaluations = without(outbox.evaluations, batch.evaluations);
  outbox.feedback = without(outbox.feedback, batch.feedback);
  if (outbox.decisions !== undefined) {
    const decisions = without(outbox.decisions, batch.decisions ?? []);
    if (decisions.length > 0) outbox.decisions = decisions;
    else delete outbox.decisions;
  }
  for (const step of loop.steps) {
    if (step.attempts.some(({ record }) => record !== undefined) && !loop.batch.includes(step)) foldStep(state, step);
  }
}

function withoutIds<T>(all: T[], written: T[], idOf: (one: T) => string): T[] {
  if (all.length === 0 || written.length === 0) return all;
  const ids = new Set(written.map(idOf));
  return all.filter((one) => !ids.has(idOf(one)));
}

/** Most of the lists are empty in most writes, and then nothing is copied. */
const without = <T>(all: T[], written: T[]): T[] =>
  all.length === 0 || written.length === 0 ? all : all.filter((one) => !written.includes(one));

/**
 * Folds finished steps into what later steps need: the last attempt without its output, guidance and constraints, and
 * the records that are not written yet or that a later success may still learn from.
 */
export function foldSteps(state: RunState, steps: readonly Step[]): void {
  for (const step of steps) foldStep(state, step);
}

function foldStep(state: RunState, step: Step): void {
  const { call } = step;
  const last = step.attempts.length - 1;
  if (call.plan_index !== null && call.input !== null) {
    // The plan has the input, unless a person has changed it.
    const { edited, ...kept } = call;
    step.call = { ...kept, input: edited === undefined ? null : call.input };
  }
  const isOpen = state.run.planner === 'chooses' && step.end?.kind === 'failed' && step.answered !== true;
  const learntFrom = isOpen ? lastRecorded(step) : undefined;
  const kept: Attempt[] = [];
  for (let index = 0; index <= last; index += 1) {
    const attempt = step.attempts[index];
    if (attempt === undefined) continue;
    const { record } = attempt;
    if (record !== undefined && state.outbox.unsaved.includes(record.failure_id)) kept.push(attempt);
    else if (index === last || attempt === learntFrom) kept.push(foldAttempt(attempt, attempt === learntFrom));
  }
  step.attempts = kept;
  if (step.key !== undefined) delete step.key;
  step.attempts_read = kept.length;
}

function foldAttempt(attempt: Attempt, keepsRecord: boolean): Attempt {
  const { n, at, waited_ms, outcome, record, constraints } = attempt;
  if (keepsRecord && record !== undefined) {
    return { n, at, waited_ms, outcome, record, ...defined({ constraints }) };
  }
  if (outcome?.class === 'failed') {
    const { class: failed, certainty, origin, category, error_code, message_preview, duration_ms } = outcome;
    const { output, result_hash } = outcome;
    const kept: CallFailed = { class: failed, certainty, origin, category, error_code, message_preview, duration_ms };
    if (output !== undefined) kept.output = output;
    if (result_hash !== undefined) kept.result_hash = result_hash;
    return { n, at, waited_ms, outcome: kept };
  }
  if (outcome?.class !== 'ok') return { n, at, waited_ms, outcome };
  const { artifact_id, bytes, inline, duration_ms, detected, unsaved } = outcome;
  const kept: CallSucceeded = { class: 'ok', output: null, inline, artifact_id, bytes, duration_ms };
  return { n, at, waited_ms, outcome: { ...kept, ...defined({ detected, unsaved }) } };
}
