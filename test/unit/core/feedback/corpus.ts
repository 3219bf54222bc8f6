import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { FeedbackType } from '../../../../src/core/feedback/types.ts';

export type Sample = {
  id: string;
  text: string;
  label: FeedbackType | null;
  command: string | null;
  source: 'tool' | 'person';
  held_out: boolean;
  /** Of a `*.tuning.jsonl` file: all of it was read while the patterns were tuned, so none of it is held out. */
  tuning: boolean;
};

const folder = resolve(import.meta.dirname, '../../../corpus/feedback');

export const corpus: Sample[] = readdirSync(folder)
  .filter((name) => name.endsWith('.jsonl'))
  .flatMap((name) => {
    const lines = readFileSync(join(folder, name), 'utf8').trim().split('\n');
    return lines.map((line) => ({ ...(JSON.parse(line) as Sample), tuning: name.endsWith('.tuning.jsonl') }));
  });
