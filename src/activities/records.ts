import { log } from '@temporalio/activity';
import { canonicalJson, sha256Hex } from '../protocol/ids.ts';
import type { RecordBatch, RunArchive, TextArtifact } from '../protocol/records.ts';
import type { ActivityStore } from './store-port.ts';

const JSON_TYPE = 'application/json';

/** `record` and `archive`: the two writes of a run. Every part has its own id, so a repetition changes nothing. */
export function createRecordActivities(store: ActivityStore) {
  const record = async (batch: RecordBatch): Promise<void> => {
    // Artifacts first: a record must never point to something that is not there.
    await store.artifacts.putMany(artifactsOf(batch).flatMap(intact).map(artifactRow));
    const { refused } = await store.records.append(batch.records, { agent: batch.agent });
    for (const { failure_id, reason } of refused) {
      log.warn('record_refused', { run_id: batch.run_id, failure_id, reason });
    }
    await store.revisions.append(
      batch.revisions.map(({ revision_id: _derived, ...revision }) => ({ ...revision, by: 'runtime' })),
    );
  };
  return {
    record,
    archive: async (archive: RunArchive): Promise<void> => {
      await record(archive.pending);
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
    },
  };
}

/** Outputs travel as JSON; what their ids name is the canonical text. */
const artifactsOf = (batch: RecordBatch): TextArtifact[] => [
  ...batch.artifacts,
  ...batch.outputs.map(({ id, output }) => ({ id, text: canonicalJson(output) })),
];

/** A text that was redacted after its id was made no longer fits it. It is left out; the rest must not suffer for it. */
function intact(artifact: TextArtifact): TextArtifact[] {
  if (sha256Hex(artifact.text) === artifact.id) return [artifact];
  log.warn('artifact_left_out', { id: artifact.id, reason: 'its text does not have this hash' });
  return [];
}

const artifactRow = ({ id, text }: TextArtifact) => ({
  id,
  bytes: new TextEncoder().encode(text),
  media_type: JSON_TYPE,
});
