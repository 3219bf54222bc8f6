/**
 * Makes samples of hand-written sentences: `npx tsx scripts/feedback-corpus/add-sentences.ts name < sentences.txt`.
 *
 * One sentence per line. A sentence that is not clean has its feedback type and a tab before it. Samples whose name
 * ends in `.tuning` are not held out: their results may be read to improve the patterns.
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
