import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { ObservedCall } from '../../src/core/stuck/call-features.ts';

/** A line of `stuck.jsonl`. docs/loopbench.md describes the fields. */
const LINE = z.object({
  id: z.string(),
  format: z.string(),
  label: z.object({
    stuck: z.enum(['yes', 'no', 'uncertain']),
    at: z.number().nullish(),
    at_range: z.tuple([z.number(), z.number()]).nullish(),
    episodes: z.array(z.tuple([z.number(), z.number()])).nullish(),
    wasted_after: z.number().nullish(),
    kind: z.string().nullish(),
  }),
  steps: z.array(
    z.object({
      tool: z.string(),
      input: z.unknown(),
      input_sha: z.string().nullish(),
      output: z.string().nullish(),
      output_sha: z.string().nullish(),
      error: z.boolean().nullish(),
      user_before: z.string().nullish(),
    }),
  ),
});
type Step = z.infer<typeof LINE>['steps'][number];

export interface Label {
  isStuck: boolean;
  /** The step (from 0) at which a supervisor steps in, and the range that is also acceptable. */
  at: number;
  range: readonly [number, number];
  episodes: readonly (readonly [number, number])[];
  wasted: number;
  kind: string;
}

export interface Transcript {
  id: string;
  /** Transcripts of one task are in one fold, so that nothing is learnt from a sibling. */
  task: string;
  format: string;
  label: Label;
  calls: ObservedCall[];
}

/** In a conversation with a customer, a reply to the customer is a step. What follows it comes after a message of a person. */
const REPLY_TOOL = 'respond';

const parseInput = (input: unknown): unknown => {
  if (typeof input !== 'string' || !/^\s*[{[]/.test(input)) return input;
  try {
    return JSON.parse(input) as unknown;
  } catch {
    // The corpus cuts long inputs. A cut input is compared as text.
    return input;
  }
};

const toCall = (step: Step, before: Step | undefined): ObservedCall => {
  const isUnanswered = (step.error ?? null) === null && (step.output ?? '') === '';
  return {
    tool: step.tool,
    input: parseInput(step.input),
    input_id: step.input_sha ?? undefined,
    output: isUnanswered ? undefined : (step.output ?? ''),
    output_id: isUnanswered ? undefined : (step.output_sha ?? undefined),
    error: step.error ?? undefined,
    after_user: (step.user_before ?? '') !== '' || before?.tool === REPLY_TOOL,
  };
};

const toTranscript = ({ id, format, label, steps }: z.infer<typeof LINE>): Transcript => ({
  id,
  task: id.split('__').at(-1) ?? id,
  format,
  label: {
    isStuck: label.stuck === 'yes',
    at: label.at ?? 0,
    range: label.at_range ?? [label.at ?? 0, label.at ?? 0],
    episodes: label.episodes ?? [],
    wasted: label.wasted_after ?? 0,
    kind: label.kind ?? 'none',
  },
  calls: steps.map((step, index) => toCall(step, steps[index - 1])),
});

/** Reads `stuck.jsonl` of a folder. Transcripts whose label is uncertain are left out and counted. */
export const readCorpus = (folder: string): { transcripts: Transcript[]; uncertain: number } => {
  const lines = readFileSync(join(folder, 'stuck.jsonl'), 'utf8').split('\n');
  const all = lines.filter((line) => line.trim() !== '').map((line) => LINE.parse(JSON.parse(line)));
  const decided = all.filter(({ label }) => label.stuck !== 'uncertain');
  return { transcripts: decided.map(toTranscript), uncertain: all.length - decided.length };
};
