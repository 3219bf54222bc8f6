/**
 * `npm run loopbench -- --corpus FOLDER [--svg FILE] [--quick] [--json]`: measures the detector and restated rules of
 * others on labelled transcripts, and exits 1 if a bar is missed.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { report } from '../report.ts';
import { CANDIDATES, crossValidate } from './cross-validate.ts';
import { drawCurve, toPoint, tracePoints } from './curve.ts';
import { type Alarms, equalCalls, geminiCli, langGraph, openHands, openRouter, secondwind } from './detectors.ts';
import { printGroups, printTable, type Row } from './print.ts';
import { readCorpus } from './read-corpus.ts';
import { scoreAlarms } from './score.ts';

const { values } = parseArgs({
  options: {
    corpus: { type: 'string' },
    svg: { type: 'string' },
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
if (values.corpus === undefined) {
  console.error(
    'Missing --corpus. Give the folder that contains stuck.jsonl, for example: npm run loopbench -- --corpus ../corpus',
  );
  process.exit(2);
}

const { transcripts, uncertain } = readCorpus(values.corpus);
const detect = (detector: (calls: (typeof transcripts)[number]['calls']) => Alarms): Alarms[] =>
  transcripts.map(({ calls }) => detector(calls));
const rowOf = (name: string, alarms: readonly Alarms[], level: keyof Alarms): Row => ({
  name,
  score: scoreAlarms(transcripts, alarms, level),
});

const own = detect(secondwind());
// Quick: the folds choose from the first three settings only.
const { alarms: validated, chosen } = crossValidate(transcripts, values.quick ? CANDIDATES.slice(0, 3) : CANDIDATES);
const others = [
  rowOf('rules of equal calls only', detect(equalCalls), 'stuck'),
  rowOf('OpenHands, restated', detect(openHands), 'stuck'),
  rowOf('OpenRouter, restated', detect(openRouter), 'stuck'),
  rowOf('Gemini CLI, restated', detect(geminiCli), 'stuck'),
  rowOf('LangGraph, 25 steps', detect(langGraph), 'stuck'),
];
const rows = [
  rowOf('stuck, as shipped', own, 'stuck'),
  rowOf('stuck, cross-validated', validated, 'stuck'),
  rowOf('suspect, as shipped', own, 'suspect'),
  rowOf('suspect, cross-validated', validated, 'suspect'),
  ...others,
];

const figuresOf = (alarms: readonly Alarms[], prefix: string): Record<string, number> => {
  const stuck = scoreAlarms(transcripts, alarms, 'stuck');
  const suspect = scoreAlarms(transcripts, alarms, 'suspect');
  return {
    [`${prefix}stuck_recall`]: stuck.recall.share,
    [`${prefix}stuck_false_alarms`]: stuck.falseAlarms.share,
    [`${prefix}suspect_recall`]: suspect.recall.share,
    [`${prefix}suspect_false_alarms`]: suspect.falseAlarms.share,
    [`${prefix}saved_share`]: stuck.saved.share,
    [`${prefix}median_delay`]: stuck.medianDelay,
  };
};
const barsOf = (prefix: string) => [
  { figure: `${prefix}stuck_recall`, atLeast: 0.8 },
  { figure: `${prefix}stuck_false_alarms`, atMost: 0.01 },
  { figure: `${prefix}suspect_recall`, atLeast: 0.9 },
  { figure: `${prefix}suspect_false_alarms`, atMost: 0.05 },
  { figure: `${prefix}saved_share`, atLeast: 0.7 },
  { figure: `${prefix}median_delay`, atMost: 2 },
];
const result = report({ ...figuresOf(own, ''), ...figuresOf(validated, 'cross_validated_') }, [
  ...barsOf(''),
  ...barsOf('cross_validated_'),
]);

if (values.svg !== undefined) {
  const dots = others.map(({ name, score }) => toPoint(name.replace(', restated', ''), score));
  writeFileSync(values.svg, drawCurve(tracePoints(transcripts), dots));
}
if (values.json) {
  console.log(JSON.stringify({ ...result, transcripts: transcripts.length, uncertain, chosen, rows }));
} else {
  console.log(`${transcripts.length} transcripts, ${uncertain} with an uncertain label left out\n`);
  printTable(rows);
  printGroups(transcripts, own);
  console.log(`\nThe folds chose the settings ${chosen.join(', ')}; 0 is the one that is shipped.`);
  for (const sentence of result.missed) console.log(`missed: ${sentence}`);
}
process.exitCode = result.ok ? 0 : 1;
