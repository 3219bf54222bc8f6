/** What the documentation points to is there. Addresses on the web are not followed. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bare, PAGES, prose, ROOT, section, tableRows } from './markdown.ts';

describe.each(PAGES)('%s', (page) => {
  it('links only to files that exist', () => {
    const targets = [...prose(page).matchAll(/\]\((?<target>[^)\s]+)\)/g)].map(
      (match) => match.groups?.['target'] ?? '',
    );
    const missing = targets
      .filter((target) => !/^(?:https?:|mailto:|#)/.test(target))
      .filter((target) => !existsSync(join(ROOT, dirname(page), target.split('#')[0] ?? '')));
    expect(missing).toEqual([]);
  });

  it('names only files of the project that exist', () => {
    const named = [...prose(page).matchAll(/`(?<path>(?:src|test|docs|examples|bench)\/[\w./-]+)`/g)];
    const paths = named.map((match) => match.groups?.['path'] ?? '');
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});

describe('the promises', () => {
  const promises = tableRows(section('docs/guarantees.md', 'What is promised, and the test that shows it'));

  it('each name a test that exists', () => {
    expect(promises.length).toBeGreaterThan(5);
    const isTest = (path: string): boolean => /^test\/.+\.test\.ts$/.test(path) && existsSync(join(ROOT, path));
    expect(promises.filter(([, test]) => !isTest(bare(test)))).toEqual([]);
  });
});

describe('the list of decisions', () => {
  it('has every page of its folder', () => {
    const index = prose('docs/adr/README.md');
    const decisions = PAGES.filter((page) => /^docs\/adr\/\d{4}-/.test(page));
    for (const page of decisions) expect(index).toContain(`(${page.slice('docs/adr/'.length)})`);
  });
});
