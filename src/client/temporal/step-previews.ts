import { previewEdit } from '../../core/redaction/preview-changes.ts';
import { previewJson, previewText } from '../../core/redaction/preview.ts';
import type { Redact } from '../../core/redaction/redact.ts';
import { CAP } from '../../protocol/caps.ts';
import { hashOfJson } from '../../protocol/ids.ts';
import { defined, type Json } from '../../protocol/json.ts';
import type { Store } from '../../store/store.ts';
import type { RecordedOutput } from '../history/run-event.ts';
import type { RecordedAttempt, RecordedStep } from '../history/steps.ts';
import type { ProjectedAttempt, ProjectedStep } from '../views.ts';

/** The most that one list loads from the store for previews. Outputs beyond that are named by their id alone. */
const LOADED_BYTES = 8 * 1024 * 1024;
/** What is redacted of a large output. The preview is its beginning, and no secret is longer than the rest. */
const READ_BYTES = 64 * 1024;

/** Turns the values of steps into what people may see: redacted previews, and the ids of artifacts with the whole values. */
export async function previewSteps(
  steps: readonly RecordedStep[],
  store: Store | undefined,
  redact: Redact,
): Promise<ProjectedStep[]> {
  // Most of the list is in history, so it is shown without the store's part if the store does not answer.
  const [large, inputs] = await Promise.all([
    loadLarge(steps, store).catch(() => new Map<string, Uint8Array>()),
    storedInputs(steps, store).catch(() => new Map<RecordedStep, string>()),
  ]);
  return steps.map((step) => {
    const { loop_id, step_id, phase, tool, input, edited } = step;
    const id = inputs.get(step);
    return {
      loop_id,
      step_id,
      phase,
      tool,
      input: previewJson(input, redact),
      ...defined({ input_artifact_id: id, edited: edited && previewEdit(edited, redact) }),
      attempts: step.attempts.map((attempt) => previewAttempt(attempt, large, redact)),
    };
  });
}

function previewAttempt(
  { output, failure_id, manifest_id, ...attempt }: RecordedAttempt,
  large: ReadonlyMap<string, Uint8Array>,
  redact: Redact,
): ProjectedAttempt {
  const shown = output === undefined ? undefined : previewOutput(output, large, redact);
  return {
    ...attempt,
    ...defined({ output: shown }),
    ...(output?.artifact_id ? { output_artifact_id: output.artifact_id } : {}),
    ...defined({ failure_id, manifest_id }),
  };
}

function previewOutput(
  { inline, value, artifact_id }: RecordedOutput,
  large: ReadonlyMap<string, Uint8Array>,
  redact: Redact,
): Json | undefined {
  if (inline) return previewJson(value, redact);
  const bytes = large.get(artifact_id ?? '');
  if (bytes === undefined) return undefined;
  const text = new TextDecoder().decode(bytes.subarray(0, READ_BYTES));
  return previewText(text, bytes.byteLength <= READ_BYTES ? text.length : bytes.byteLength, redact);
}

/** Loads outputs that were too large for history, the latest first, because those are looked at most. */
async function loadLarge(
  steps: readonly RecordedStep[],
  store: Store | undefined,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const sizes = new Map<string, number>();
  for (const { attempts } of steps.toReversed()) {
    for (const { output } of attempts)
      if (output?.inline === false && output.artifact_id !== null) sizes.set(output.artifact_id, output.bytes);
  }
  let room = LOADED_BYTES;
  const ids = [...sizes].filter(([, bytes]) => (room -= bytes) >= 0).map(([id]) => id);
  const found = (await store?.artifacts.getMany(ids)) ?? [];
  return new Map(found.map(({ id, bytes }) => [id, bytes]));
}

/** The worker stores the inputs that a preview cannot show whole. They are found by their hash, as every artifact is. */
async function storedInputs(
  steps: readonly RecordedStep[],
  store: Store | undefined,
): Promise<ReadonlyMap<RecordedStep, string>> {
  const long = steps.filter(({ input }) => JSON.stringify(input).length > CAP.previewChars);
  const ids = new Map(long.map((step) => [step, hashOfJson(step.input)]));
  const known = (await store?.artifacts.has([...ids.values()])) ?? new Set();
  return new Map([...ids].filter(([, id]) => known.has(id)));
}
