/**
 * Makes samples of hand-written sentences: `npx tsx scripts/feedback-corpus/add-sentences.ts name < sentences.txt`.
 *
 * One sentence a line; before it, with a tab between, a feedback type where it is not clean. A name that ends in
 * `.tuning` holds nothing out: for sentences whose results are read to mend the patterns.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { heldOut } from './case.ts';

const name = process.argv[2];
if (name === undefined) throw new Error('Name the file: add-sentences.ts people-4 < sentences.txt');

const samples = readFileSync(0, 'utf8')
  .split('\n')
  .filter((line) => line.trim() !== '')
  .map((line, index) => {
    const [first = '', second] = line.split('\t');
    const [label, text] = second === undefined ? [null, first] : [first, second];
    const kept = name.endsWith('.tuning') ? false : heldOut(text);
    return { id: `${name}-${index + 1}`, text, label, command: null, source: 'person', held_out: kept };
  });
writeFileSync(
  resolve(import.meta.dirname, '../../test/corpus/feedback', `${name}.jsonl`),
  `${samples.map((sample) => JSON.stringify(sample)).join('\n')}\n`,
);
console.log(`${name}: ${samples.length} samples, ${samples.filter((sample) => sample.held_out).length} held out`);
