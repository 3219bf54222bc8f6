import { log as activityLog } from '@temporalio/activity';
import { familyOf } from '../core/guardrails/loop-ids.ts';
import { redactJson, type Redact } from '../core/redaction/redact.ts';
import { canonicalJson, sha256Hex } from '../protocol/ids.ts';
import type { Json } from '../protocol/json.ts';
import type { RecordBatch, RunArchive, TextArtifact } from '../protocol/records.ts';
import { lessonToKeep } from './lesson-to-keep.ts';
import type { ActivityStore } from './store-port.ts';
import { openPartWriter, type PartWriter, type WarnLog } from './write-parts.ts';

const JSON_TYPE = 'application/json';

/** `record` and `archive`: the two writes of a run. Every part has its own id, so a repetition changes nothing. */
export function createRecordActivities(
  store: ActivityStore,
  redact: Redact = (text) => text,
  log: WarnLog = activityLog,
) {
  const writeBatch = async (batch: RecordBatch, parts: PartWriter): Promise<void> => {
    // Artifacts first: a record must never point to something that is not there.
    await store.artifacts.putMany(
      artifactsOf(batch)
        .flatMap((artifact) => intact(artifact, log))
        .map(artifactRow),
    );
    if (batch.records.length > 0) {
      // A workflow that is not ours has its own converter, so what it sends is cleaned here too.
      const records = redactJson(batch.records, redact) as unknown as RecordBatch['records'];
      const { refused } = await store.records.append(records, { agent: batch.agent });
      for (const { failure_id, reason } of refused)
        await parts.refuse('records', failure_id ?? 'without an id', reason);
    }
    await parts.write(
      'revisions',
      batch.revisions,
      (revision) => revision.revision_id,
      (revisions) =>
        store.revisions.append(revisions.map(({ revision_id: _ours, ...rest }) => ({ ...rest, by: 'runtime' }))),
    );
    await writeMemory(batch, parts);
  };
  const writeMemory = async (batch: RecordBatch, parts: PartWriter): Promise<void> => {
    const { reflections, retryMonitors, feedbackLog } = store;
    await parts.write(
      'lessons',
      batch.lessons,
      (lesson) => lesson.occurrence_id,
      reflections &&
        (async (lessons) => {
          for (const lesson of lessons) await reflections.persist(lessonToKeep(lesson, batch));
        }),
    );
    await parts.write(
      'lesson_uses',
      batch.lesson_uses,
      (use) => use.use_id,
      reflections && ((uses) => reflections.recordUses(uses)),
    );
    await parts.write(
      'evaluations',
      batch.evaluations,
      (evaluation) => `${evaluation.run_id}:${evaluation.step_id}`,
      retryMonitors && ((evaluations) => retryMonitors.append(evaluations)),
    );
    await parts.write(
      'feedback',
      batch.feedback,
      (entry) => entry.entry_id,
      feedbackLog && ((entries) => feedbackLog.append(entries)),
    );
  };

  return {
    record: async (batch: RecordBatch): Promise<void> => {
      const parts = openPartWriter(store, batch.run_id, log);
      await writeBatch(batch, parts);
      parts.finish();
    },
    archive: async (archive: RunArchive): Promise<void> => {
      const parts = openPartWriter(store, archive.run_id, log);
      await writeBatch(archive.pending, parts);
      const { biasCounts } = store;
      await parts.write(
        'bias_tags',
        flaggedLoops(archive.trace),
        (loop) => loop.loop_id,
        biasCounts &&
          (async (loops) => {
            for (const loop of loops) await biasCounts.add(loop);
          }),
      );
      const { result } = archive;
      await store.archivedRuns.put({
        run_id: archive.run_id,
        agent: archive.agent,
        goal: archive.goal,
        outcome: result.outcome,
        summary: { result, steps: archive.steps },
        trace: archive.trace,
        labels: archive.labels,
        started_at: result.started_at,
        ended_at: result.ended_at,
      });
      parts.finish();
    },
  };
}

/** Loops that were flagged with a bias, by the family that they belong to. */
function flaggedLoops(trace: readonly Json[]): { family: string; loop_id: string; tags: string[] }[] {
  return trace.flatMap((item) => {
    if (typeof item !== 'object' || item === null || Array.isArray(item)) return [];
    const { loop_id, bias_tags } = item;
    if (typeof loop_id !== 'string' || !Array.isArray(bias_tags)) return [];
    const tags = bias_tags.filter((tag) => typeof tag === 'string');
    return tags.length === 0 ? [] : [{ family: familyOf(loop_id), loop_id, tags }];
  });
}

/** Outputs travel as JSON; what their ids name is the canonical text. */
const artifactsOf = (batch: RecordBatch): TextArtifact[] => [
  ...batch.artifacts,
  ...batch.outputs.map(({ id, output }) => ({ id, text: canonicalJson(output) })),
];

/** A text that was redacted after its id was made no longer fits it. It is left out; the rest must not suffer for it. */
function intact(artifact: TextArtifact, log: WarnLog): TextArtifact[] {
  if (sha256Hex(artifact.text) === artifact.id) return [artifact];
  log.warn('artifact_left_out', { id: artifact.id, reason: 'its text does not have this hash' });
  return [];
}

const artifactRow = ({ id, text }: TextArtifact) => ({
  id,
  bytes: new TextEncoder().encode(text),
  media_type: JSON_TYPE,
});
