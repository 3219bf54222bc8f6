/** A small set of transcripts of our own making: what an agent does when it is stuck, and what only looks like it. */
import type { ObservedCall } from '../../../../src/core/stuck/call-features.ts';

export interface OwnTranscript {
  name: string;
  calls: ObservedCall[];
  /** The rule that finds it, and the call (from 1) at which the level `stuck` is reached. Null for honest work. */
  stuck: { rule: string; at: number } | null;
}

export const shell = (command: string, output: string): ObservedCall => ({ tool: 'bash', input: { command }, output });
export const edit = (text: string, output = 'The file was saved.'): ObservedCall => ({
  tool: 'edit_file',
  input: { path: 'src/mail.py', text },
  output,
});
const times = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));
const NAMES = ['ledger', 'invoice', 'postbox', 'courier', 'parcel', 'stamp', 'counter', 'scales', 'queue', 'bell'];
const name = (n: number): string => `${NAMES[n % NAMES.length] ?? ''}${n >= NAMES.length ? n : ''}`;
const traceback = (line: number, module: string): string =>
  `Traceback (most recent call last):\n  File "/srv/app/mail.py", line ${line}, in <module>\nModuleNotFoundError: No module named '${module}'`;

export const OWN_TRANSCRIPTS: OwnTranscript[] = [
  {
    name: 'the same listing, again and again',
    calls: times(6, () => shell('ls -l outbox', 'letter-1.txt\nletter-2.txt\nletter-3.txt')),
    stuck: { rule: 'same_call_same_outcome', at: 4 },
  },
  {
    name: 'a missing program whose error counts the lines of the shell',
    calls: times(6, (n) => shell('franking --all', `/bin/sh: line ${100 + 15 * n}: franking: command not found`)),
    stuck: { rule: 'same_call_failing', at: 3 },
  },
  {
    name: 'a query that grows while its column stays unknown',
    calls: times(6, (n) => ({
      tool: 'sql',
      input: `SELECT weight FROM parcels WHERE zone = ${n} ${'AND open '.repeat(n)}`,
      output: `Error executing query: Unknown column 'weight' in 'field list'`,
      error: true,
    })),
    stuck: { rule: 'same_error', at: 4 },
  },
  {
    name: 'searches for files with invented names',
    calls: times(9, (n) => ({ tool: 'find_file', input: { name: name(n) }, output: `No files match ${name(n)}.` })),
    stuck: { rule: 'fruitless', at: 7 },
  },
  {
    name: 'the same insertion, although the file grows with each',
    calls: times(6, (n) => ({
      tool: 'insert',
      input: { line: 1, text: 'import stamps' },
      output: `The file has ${80 + n} lines now.${'\nimport stamps'.repeat(n)}`,
    })),
    stuck: { rule: 'near_repeat', at: 4 },
  },
  {
    name: 'reworded orders to a browser that shows the same page',
    calls: times(7, (n) => ({
      tool: 'browser',
      input: { order: `Please ${NAMES[n] ?? ''} open the form and send the complaint to the office` },
      output: `I clicked 'Write to us'. The page "Contact - Post office" is shown. You were here ${n + 3} seconds ago. Opening hours are listed below.`,
    })),
    stuck: { rule: 'near_repeat', at: 5 },
  },
  {
    name: 'six look-ups in the same order, over and over',
    calls: times(24, (n) => ({
      tool: 'open',
      input: { path: `${name(n % 6)}.txt` },
      output: `The text of ${name(n % 6)}, which never changes.`,
    })),
    stuck: { rule: 'long_cycle', at: 16 },
  },
  {
    name: 'edits of an import, each followed by the same first error',
    calls: times(10, (n) =>
      n % 2 === 0 ? edit(`import ${name(n)} # try ${n}`) : shell('python mail.py', traceback(n, name(n))),
    ),
    stuck: { rule: 'edit_run', at: 8 },
  },
  {
    name: 'pages of a list, one after the other',
    calls: times(30, (n) => ({
      tool: 'list_orders',
      input: { page: n },
      output: times(5, (k) => `order ${5 * n + k} of ${name(5 * n + k)}`).join('\n'),
    })),
    stuck: null,
  },
  {
    name: 'a job that is polled while it moves',
    calls: times(40, (n) => ({
      tool: 'job_status',
      input: { job: 'sorting' },
      output: { state: 'running', done: 25 * n, of: 1000, message: 'The machine is sorting the letters of the day.' },
    })),
    stuck: null,
  },
  {
    name: 'one look-up for each item, some of which do not exist',
    calls: times(30, (n) => ({
      tool: 'get_order',
      input: { id: n },
      output: n % 3 === 0 ? `Error: order ${n} not found` : `order ${n}: ${name(n)}, weighs ${n} grams`,
    })),
    stuck: null,
  },
  {
    name: 'the same green test after each edit',
    calls: times(40, (n) => (n % 2 === 0 ? edit(`step ${n}`) : shell('npm test', '33 tests passed'))),
    stuck: null,
  },
  {
    name: 'edits with another error each time',
    calls: times(20, (n) =>
      n % 2 === 0 ? edit(`step ${n}`) : shell('make', `mail.c:${n}: error: ${name(n)} undeclared`),
    ),
    stuck: null,
  },
  {
    name: 'bisecting with near-equal commands',
    calls: times(12, (n) =>
      shell(
        `git bisect ${n % 2 === 0 ? 'good' : 'bad'}`,
        `Bisecting: ${2 ** (12 - n)} revisions left, ${name(n)} ${name(n + 1)}`,
      ),
    ),
    stuck: null,
  },
  {
    name: 'three tries, then another way',
    calls: [
      ...times(3, (n) => shell(`pip install stamps==${n}`, 'ERROR: No matching distribution found for stamps')),
      shell('cat requirements.txt', 'postage==2\n'),
      shell('pip install postage', 'Successfully installed postage-2'),
      shell('python mail.py', 'sent 12 letters'),
    ],
    stuck: null,
  },
  {
    name: 'the same request of a person, refused and asked for again',
    calls: times(8, (n) => ({
      tool: 'delete_account',
      input: { id: 7 },
      output: "The user doesn't want to proceed with this tool use.",
      error: true,
      after_user: n > 0,
    })),
    stuck: null,
  },
];
