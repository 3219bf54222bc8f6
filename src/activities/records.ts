import { log as activityLog } from '@temporalio/activity';
import { familyOf } from '../core/guardrails/loop-ids.ts';
import type { Redact } from '../core/redaction/redact.ts';
import { redactShown } from '../core/redaction/shown.ts';
import { CAP } from '../protocol/caps.ts';
import { canonicalJson, sha256Hex } from '../protocol/ids.ts';
import { defined, type Json } from '../protocol/json.ts';
import type { FeedbackEntry } from '../protocol/lessons.ts';
import type { Execution, RecordBatch, RunArchive, TextArtifact } from '../protocol/records.ts';
import type { EndedRun } from '../store/run-metrics.ts';
import { lessonToKeep } from './lesson-to-keep.ts';
import type { ActivityStore } from './store-port.ts';
import { unsavedInHistory } from './unsaved-in-history.ts';
import { createPartWriter, type PartWriter, type WarnLog } from './write-parts.ts';

const JSON_TYPE = 'application/json';

/**
 * Creates `record` and `archive`, the two writes of a run. Every part has its own id, so repeating a write changes
 * nothing.
 */
export function createRecordActivities(
  store: ActivityStore,
  redact: Redact = (text) => text,
  log: WarnLog = activityLog,
) {
  const writeBatch = async (batch: RecordBatch, parts: PartWriter): Promise<void> => {
    // Artifacts are written first, so that a record never refers to an artifact that does not exist.
    await store.artifacts.putMany(
      artifactsOf(batch)
        .flatMap((artifact) => keepIfUnchanged(artifact, log))
        .map(artifactRow),
    );
    if (batch.records.length > 0) {
      // A workflow of the user's own may use another data converter, so the records are redacted here too.
      const records = redactShown(batch.records, redact);
      const { refused } = await store.records.append(records, {
        agent: batch.agent,
        tenant: batch.tenant ?? null,
      });
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
  /** Writes what earlier writes of the run could not. */
  const writeFromHistory = async (batch: RecordBatch, parts: PartWriter, run?: Execution): Promise<void> => {
    if (batch.from_history !== true) return;
    const { batches, outputs } = await unsavedInHistory(run);
    await store.artifacts.putMany(outputs.map(artifactRow));
    for (const earlier of batches) await writeBatch(earlier, parts);
  };
  const writeMemory = async (batch: RecordBatch, parts: PartWriter): Promise<void> => {
    const { reflections, retryMonitors, feedbackLog, guardDecisions } = store;
    await parts.write(
      'lessons',
      batch.lessons,
      (lesson) => lesson.occurrence_id,
      reflections &&
        (async (lessons) => {
          const run = { run_id: batch.run_id, agent: batch.agent, tenant: batch.tenant ?? null };
          for (const lesson of lessons) {
            const kept = await lessonToKeep(redactShown(lesson, redact), run, store);
            if (kept !== null) await reflections.persist(kept);
          }
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
      feedbackLog &&
        (async (entries) => feedbackLog.append(redactShown(await withPrompts(entries, store.artifacts), redact))),
    );
    await parts.write(
      'decisions',
      batch.decisions ?? [],
      (decision) => decision.decision_id,
      guardDecisions && ((decisions) => guardDecisions.append(redactShown(decisions, redact), batch.agent)),
    );
  };

  return {
    record: async (batch: RecordBatch): Promise<void> => {
      const parts = createPartWriter(store, batch.run_id, log);
      await writeFromHistory(batch, parts);
      await writeBatch(batch, parts);
      parts.finish();
    },
    archive: async (archive: RunArchive, run?: Execution): Promise<void> => {
      const parts = createPartWriter(store, archive.run_id, log);
      await writeFromHistory(archive.pending, parts, run);
      await writeBatch(archive.pending, parts);
      const { biasCounts } = store;
      await parts.write(
        'bias_tags',
        flaggedLoops(archive.trace),
        (loop) => loop.loop_id,
        biasCounts &&
          (async (loops) => {
            for (const loop of loops) await biasCounts.add({ ...loop, tenant: archive.tenant ?? null });
          }),
      );
      const { runMetrics } = store;
      await parts.write(
        'figures',
        figuresToKeep(archive),
        (run) => run.run_id,
        runMetrics &&
          (async (runs) => {
            for (const run of runs) await runMetrics.put(run);
          }),
      );
      // People read the archive. The exact outputs are artifacts, which are encrypted.
      const { result, goal, steps, trace } = redactShown(archive, redact);
      await store.archivedRuns.put({
        run_id: archive.run_id,
        agent: archive.agent,
        goal,
        outcome: result.outcome,
        summary: {
          result,
          steps,
          ...defined({ tenant: archive.tenant, request: archive.request, facts: archive.facts, final: archive.final }),
        },
        trace,
        labels: archive.labels,
        started_at: result.started_at,
        ended_at: result.ended_at,
      });
      parts.finish();
    },
  };
}

/** The figures of a run for the monitors; none for a run that ended before there were figures. */
const figuresToKeep = ({ run_id, agent, result, figures }: RunArchive): EndedRun[] =>
  figures === undefined
    ? []
    : [{ run_id, agent, outcome: result.outcome, ended_at: result.ended_at, used: result.used, figures }];

/** Fills in the prompts of entries that only name the artifacts of them. */
async function withPrompts(
  entries: readonly FeedbackEntry[],
  artifacts: ActivityStore['artifacts'],
): Promise<FeedbackEntry[]> {
  const ids = entries.flatMap(({ prompts }) =>
    prompts === undefined ? [] : [prompts.original_id, prompts.refined_id],
  );
  const found = ids.length === 0 ? [] : await artifacts.getMany([...new Set(ids)]);
  const texts = new Map(found.map(({ id, bytes }) => [id, new TextDecoder().decode(bytes).slice(0, CAP.textChars)]));
  return entries.map(({ prompts, ...entry }) => ({
    ...entry,
    ...(prompts !== undefined && {
      original_prompt: texts.get(prompts.original_id) ?? '',
      refined_prompt: texts.get(prompts.refined_id) ?? '',
    }),
  }));
}

/** Loops that were flagged with a bias, with the family they belong to. */
function flaggedLoops(trace: readonly Json[]): { family: string; loop_id: string; tags: string[] }[] {
  return trace.flatMap((item) => {
    if (typeof item !== 'object' || item === null || Array.isArray(item)) return [];
    const { loop_id, bias_tags } = item;
    if (typeof loop_id !== 'string' || !Array.isArray(bias_tags)) return [];
    const tags = bias_tags.filter((tag) => typeof tag === 'string');
    return tags.length === 0 ? [] : [{ family: familyOf(loop_id), loop_id, tags }];
  });
}

/** Outputs travel as JSON, but their ids are hashes of the canonical text, so the canonical text is stored. */
const artifactsOf = (batch: RecordBatch): TextArtifact[] => [
  ...batch.artifacts,
  ...batch.outputs.map(({ id, output }) => ({ id, text: canonicalJson(output) })),
];

/**
 * Leaves out an artifact whose text no longer matches its id because it was redacted after the id was computed. The
 * other artifacts are still written.
 */
function keepIfUnchanged(artifact: TextArtifact, log: WarnLog): TextArtifact[] {
  if (sha256Hex(artifact.text) === artifact.id) return [artifact];
  log.warn('artifact_left_out', { id: artifact.id, reason: 'its text does not have this hash' });
  return [];
}

const artifactRow = ({ id, text }: TextArtifact) => ({
  id,
  bytes: new TextEncoder().encode(text),
  media_type: JSON_TYPE,
});
